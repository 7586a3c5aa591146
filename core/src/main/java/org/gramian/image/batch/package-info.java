/**
 * Batches of crops, decoded ahead by several threads, in a deterministic order.
 *
 * <p>A list of {@link org.gramian.image.batch.BatchLoader.LoadRequest} names images and their crops; {@link
 * org.gramian.image.batch.Shuffle} gives the order of an epoch. {@link org.gramian.image.batch.Rendering} converts a file to arrays, {@link
 * org.gramian.image.batch.BatchLoader.Prefetch} sets batch size and threads, and {@link org.gramian.image.batch.BatchLoader} returns {@link
 * org.gramian.image.batch.Batch}es in the order of the list.
 *
 * <pre>{@code
 * Crops crops = CropPlan.parse("paper").training(seed);
 * Rendering rendering = new Rendering(reader::read, crops, preprocessing);
 * try (BatchLoader loader = new BatchLoader(rendering, LoadRequest.all(samples, crops), Prefetch.of(32, 4))) {
 *     while (loader.hasNext()) {
 *         try (Batch batch = loader.next(); Scope scope = Scope.open()) {
 *             Tensor images = batch.tensor();   // [32, 3, 224, 224], no copy
 *             ...                                 // batch.slots() names the crops
 *         }
 *     }
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.image.batch;

import org.jspecify.annotations.NullMarked;
