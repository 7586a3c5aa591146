/**
 * The gallery of a run: its images with thumbnails and short descriptors, stored beside the model.
 *
 * <p>A {@link org.gramian.gallery.CountSketch} shortens the mean descriptor of an image's crops to at most 1,024 numbers. A {@link
 * org.gramian.gallery.Gallery.GalleryBuilder} collects these, with the {@link org.gramian.gallery.Gallery.Item name, class and subset} of each image
 * and its {@linkplain org.gramian.gallery.Thumbnail thumbnail}, to a {@link org.gramian.gallery.Gallery}, which is written as {@code
 * gallery.safetensors}. {@link org.gramian.gallery.NearestImages} finds the images nearest to a new one.
 */
@NullMarked
package org.gramian.gallery;

import org.jspecify.annotations.NullMarked;
