/**
 * Training the new layers of a model on a cluster, over features that its executors computed: stage 1 of Algorithm 1, step for step
 * as on one machine.
 *
 * <p>A {@link org.gramian.spark.train.SparkTrainer} runs a {@link org.gramian.spark.train.TrainingJob}:
 *
 * <ol>
 *   <li>A {@code ImageCatalog} numbers the images of a table by the order of their names, and finds the classes.
 *   <li>{@code FeatureStore} has the frozen backbone's features computed by {@code FeatureTask}s and appends them to a Parquet table,
 *       some images at a time, without recomputing existing ones. Unreadable images are rows with a reason and are skipped.
 *   <li>{@code Shards} partitions the features in the memory of the executors, each partition a {@code FeatureShard};
 *       a task processes a fixed group of them.
 *   <li>{@link org.gramian.train.loop.SpreadStage} of core goes through epochs and steps, rates, judging and checkpoints, and asks
 *       {@code SparkWorkers} for the gradient of each step. These send the head's parameters ({@code StepOrder}) by a broadcast; the
 *       groups that hold crops of the step compute their parts ({@code StepWork}, run by a {@code HeadTask}), which the driver adds up
 *       in the order of the groups, in double precision, so that neither time nor lost executors change a bit. Epochs are judged by
 *       {@code ValidationWork}. What goes between driver and executors is bytes ({@code ObjectBytes}), whatever Spark's serializer is.
 *   <li>A {@code RemoteRunFolder} keeps checkpoint, history, settings and model in any file system; {@link org.gramian.spark.train.LocalPathCheck} knows
 *       of places that are not the same on every machine.
 * </ol>
 *
 * <p>What executors compute depends on features, parameters and places alone: Spark may compute any part of it again.
 */
@NullMarked
package org.gramian.spark.train;

import org.jspecify.annotations.NullMarked;
