/**
 * Code of the executors: appends predictions and descriptors to the rows of a partition.
 *
 * <p>The driver reads a model file as {@link org.gramian.spark.executor.ModelContent} and broadcasts it. {@code
 * ExecutorModels} loads it once per JVM, on the device of the task's {@link
 * org.gramian.spark.executor.TaskResources}. {@link org.gramian.spark.executor.PartitionScoring} takes rows in {@link
 * org.gramian.spark.executor.Chunks}, reads images from an {@link org.gramian.spark.executor.ImageColumn}, runs the {@link
 * org.gramian.model.Classifier} and appends {@link org.gramian.spark.executor.Output} columns.
 */
@NullMarked
package org.gramian.spark.executor;

import org.jspecify.annotations.NullMarked;
