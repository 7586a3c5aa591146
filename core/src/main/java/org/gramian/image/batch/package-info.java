/**
 * Batches: many images, decoded ahead by several threads, in an order that the seed alone decides.
 *
 * <p>What is to be loaded is a list of {@link org.gramian.image.batch.Work}: an image and which of its crops are wanted;
 * {@link org.gramian.image.batch.Shuffle} puts it into the order of an epoch. How a file becomes numbers is a
 * {@link org.gramian.image.batch.Rendering}; how much happens at once is a {@link org.gramian.image.batch.Prefetch}. A
 * {@link org.gramian.image.batch.BatchLoader} then hands out {@link org.gramian.image.batch.Batch}es in the order of the
 * list.
 *
 * <pre>{@code
 * Crops crops = CropPlan.parse("paper").training(seed);
 * Rendering rendering = new Rendering(reader::read, crops, preprocessing);
 * List<Work> epoch = Shuffle.epoch(Work.all(samples, crops), seed, 3);
 * try (BatchLoader loader = new BatchLoader(rendering, epoch, Prefetch.of(32))) {
 *     while (loader.hasNext()) {
 *         try (Batch batch = loader.next(); Scope scope = Scope.open()) {
 *             Tensor images = batch.tensor();   // [32, 3, 224, 224], no copy
 *             ...                                 // batch.places() says what is where
 *         }
 *     }
 * }
 * }</pre>
 *
 * <p>Inside, {@code Worker} decodes and writes, {@code BatchQueue} is the one monitor that all threads meet at. Memory is
 * bounded by it: a fixed number of batches, used over and over, and one image for each thread.
 */
@NullMarked
package org.gramian.image.batch;

import org.jspecify.annotations.NullMarked;
