/**
 * What happens on executors: rows of a partition become rows with what a model says of their images.
 *
 * <p>The driver turns a model file into a {@link org.gramian.spark.executor.ModelContent}, whose bytes every executor gets once,
 * by a broadcast that travels with each task as a {@link org.gramian.spark.executor.SharedModel}. {@link
 * org.gramian.spark.executor.ExecutorModels} loads it once in each virtual machine, on the device that {@link
 * org.gramian.spark.executor.TaskResources} says the task was given. {@link org.gramian.spark.executor.PartitionScoring} takes
 * rows in {@link org.gramian.spark.executor.Chunks}, reads their images from a {@link
 * org.gramian.spark.executor.ImageColumn} (what a store that fails means, {@code Attempts} knows), has them computed exactly as the command line does in a {@link
 * org.gramian.spark.executor.Pass} of {@link org.gramian.model.Scoring}, and appends the {@link org.gramian.spark.executor.Output}s that were asked for.
 */
@NullMarked
package org.gramian.spark.executor;

import org.jspecify.annotations.NullMarked;
