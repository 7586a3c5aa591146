/**
 * Batches of crops, decoded ahead by several threads, in a deterministic order.
 *
 * <p>A {@link org.gramian.image.batch.BatchLoader} returns the batches of a list of {@link
 * org.gramian.image.batch.BatchLoader.LoadRequest}s or of images; {@link org.gramian.image.batch.Rendering} converts a file to arrays.
 */
@NullMarked
package org.gramian.image.batch;

import org.jspecify.annotations.NullMarked;
