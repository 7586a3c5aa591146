/**
 * Training the new layers of a model on a cluster, over features that its executors computed: stage 1 of Algorithm 1, step for step
 * as on one machine.
 *
 * <p>A {@link org.gramian.spark.train.TrainingJob} is what is asked for; a {@link org.gramian.spark.train.SparkTrainer} does it:
 *
 * <ol>
 *   <li>A {@code ImageCatalog} numbers the images of a table by the order of their names, and finds the classes.
 *   <li>{@code FeatureStore} has the frozen backbone's features computed by {@code FeatureTask}s and appends them to a Parquet table,
 *       some images at a time; images that are there already are not computed again. Those that cannot be read are rows with a
 *       reason, and take no part.
 *   <li>{@code Shards} deals the features out to partitions that stay in the executors' memory, each a {@code FeatureShard}, and
 *       {@code FixedGroups} says which of them one task goes through.
 *   <li>{@link org.gramian.train.loop.SpreadStage} of core goes through epochs and steps, rates, judging and checkpoints, and asks
 *       {@code SparkWorkers} for the gradient of each step. These send the head's parameters ({@code StepOrder}) by a broadcast; the
 *       groups that hold crops of the step compute their parts ({@code StepWork}, run by a {@code HeadTask}), which the driver adds up
 *       in the order of the groups, in double precision, so that neither time nor lost executors change a bit. Epochs are judged by
 *       {@code JudgeWork}. What goes between driver and executors is bytes ({@code ObjectBytes}), whatever Spark's serializer is.
 *   <li>A {@code RunFolder} keeps checkpoint, history, settings and model in any file system; {@link org.gramian.spark.train.LocalPathCheck} knows
 *       of places that are not the same on every machine.
 * </ol>
 *
 * <p>What executors compute depends on features, parameters and places alone: Spark may compute any part of it again.
 */
@NullMarked
package org.gramian.spark.train;

import org.jspecify.annotations.NullMarked;
