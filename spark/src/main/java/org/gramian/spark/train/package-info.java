/**
 * Training of pooling and classifier on a cluster, over features computed by its executors: stage 1 of Algorithm 1, with the steps of
 * one machine.
 *
 * <p>A {@link org.gramian.spark.train.SparkTrainer} runs a {@link org.gramian.spark.train.TrainingJob}:
 *
 * <ol>
 *   <li>{@code ImageCatalog} numbers the images of a table by name, and finds the classes.
 *   <li>{@code FeatureStore} appends the features of the frozen backbone to a Parquet table, some images at a time, computed by {@code
 *       FeatureTask}s. An unreadable image is a row with a reason and is skipped.
 *   <li>{@code Shards} caches the features on the executors, each partition a {@code FeatureShard}; a task processes a fixed group of
 *       them.
 *   <li>{@link org.gramian.train.loop.DistributedStage} of core runs epochs, steps, validation and checkpoints, with {@code
 *       SparkWorkers} for the gradient of each step: they broadcast the parameters of the head ({@code StepInput}), run {@code
 *       HeadTask}s on the groups with crops of the step, and sum their parts in the order of the groups, in float64, so that neither
 *       timing nor lost executors change a bit.
 *   <li>{@code RemoteRunFolder} keeps checkpoint, history, settings and model in any file system; {@link
 *       org.gramian.spark.train.ClusterOutput} detects paths that are local to each machine.
 * </ol>
 *
 * <p>Results of executors depend on features, parameters and places alone, so Spark may recompute any of them.
 */
@NullMarked
package org.gramian.spark.train;

import org.jspecify.annotations.NullMarked;
