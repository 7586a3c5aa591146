package org.gramian.spark.train;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.gramian.run.config.Settings;

/**
 * What is to be trained on a cluster: labelled images, what is asked for, and a folder for what comes of it.
 *
 * <pre>{@code
 * Dataset<Row> images = spark.read().parquet("hdfs:///photos");     // path STRING, label STRING
 * TrainingJob job = new TrainingJob(
 *         images, TrainingColumns.of("path", "label"), Settings.NONE.with(Keys.BATCH, 256), "hdfs:///runs/7", true, "auto");
 * Trained trained = SparkTrainer.usual().train(job);                  // trained.model() is a path
 * }</pre>
 *
 * <p>All rows are learned from, but for those that judge epochs. Who is to test is kept out of the table by the caller, as Spark's
 * estimators have it.
 *
 * @param images labelled images, one a row
 * @param columns where names, labels and images stand in a row
 * @param asked what is asked for, by the keys of {@code gramian train}; the rest is chosen. Layout and protocol mean nothing here
 * @param folder in any file system that driver and executors reach: gets the model, the history, the settings, features and, while
 *     it is not finished, a checkpoint
 * @param resume whether to go on with a run that was begun in the folder; where none was, it is begun
 * @param device where executors compute: {@code cpu}, {@code cuda:1}, or {@code auto} for the GPU that Spark gave the task
 */
public record TrainingJob(
        Dataset<Row> images, TrainingColumns columns, Settings asked, String folder, boolean resume, String device) {}
