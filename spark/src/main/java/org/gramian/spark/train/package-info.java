/**
 * Training on a cluster: executors compute features of a frozen backbone, the driver trains the head on them with the code of one
 * machine.
 *
 * <p>{@link org.gramian.spark.train.LabelledImages} reads classes and split of a table. {@link org.gramian.spark.train.SparkTrainer}
 * lets executors run a {@link org.gramian.spark.executor.FeatureTask}. It collects the features and passes them to {@link
 * org.gramian.train.loop.TwoStageTraining}; or, for the classifiers {@code lda} and {@code mean}, executors compute descriptors, {@code
 * ClassSums} adds their statistics, and any number of images fits.
 */
@NullMarked
package org.gramian.spark.train;

import org.jspecify.annotations.NullMarked;
