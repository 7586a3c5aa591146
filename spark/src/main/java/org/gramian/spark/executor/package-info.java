/**
 * Code of the executors: appends predictions and descriptors to the rows of a partition.
 *
 * <p>The driver turns a model file into a {@link org.gramian.spark.executor.ModelContent}. Each executor gets its bytes once, by
 * a broadcast that travels with each task as a {@link org.gramian.spark.executor.SharedModel}. {@link
 * org.gramian.spark.executor.ExecutorModels} loads it once per virtual machine, on the device of the task's {@link
 * org.gramian.spark.executor.TaskResources}. {@link org.gramian.spark.executor.PartitionScoring} takes rows in {@link
 * org.gramian.spark.executor.Chunks}, makes an image source of each row's {@link org.gramian.spark.executor.ImageColumn}, runs the
 * {@link org.gramian.model.Classifier} as the command line does, and appends the {@link org.gramian.spark.executor.Output}
 * columns. {@code Attempts} decides whether a store that fails is an error of the image.
 */
@NullMarked
package org.gramian.spark.executor;

import org.jspecify.annotations.NullMarked;
