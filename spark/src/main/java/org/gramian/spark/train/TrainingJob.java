package org.gramian.spark.train;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.gramian.run.config.Settings;

/**
 * Distributed training: labelled images, options and a run folder.
 *
 * <pre>{@code
 * Dataset<Row> images = spark.read().parquet("hdfs:///photos");     // path STRING, label STRING
 * TrainingJob job = new TrainingJob(
 *         images, TrainingColumns.of("path", "label"), Settings.NONE.with("optimizer.batch", 256), "hdfs:///runs/7", true, "auto");
 * TrainingOutcome trained = SparkTrainer.create().train(job);          // trained.model() is a path
 * }</pre>
 *
 * <p>All rows are training images, except those of the validation set. As with all estimators of Spark, the caller keeps test
 * images out of the table.
 *
 * @param images labelled images, one per row
 * @param columns of names, labels and images
 * @param requested options by the keys of {@code gramian train}; unset ones get defaults. Layout and protocol are ignored
 * @param folder run folder in a file system that driver and executors reach, for model, history, configuration, features and
 *     checkpoint
 * @param resume whether to resume an unfinished run in the folder, if any
 * @param device of the executors: {@code cpu}, {@code cuda:1}, or {@code auto} for the GPU that Spark assigns to the task
 */
public record TrainingJob(
        Dataset<Row> images,
        TrainingColumns columns,
        Settings requested,
        String folder,
        boolean resume,
        String device) {}
