/**
 * What a run leaves beside its model for people to look at: images and how near the model sees them to each other.
 *
 * <p>From start to end:
 *
 * <ol>
 *   <li>A model gives each crop of an image a descriptor, often of many thousand numbers. A {@link
 *       org.gramian.gallery.Sketch} takes their mean, brings it to length 1, and makes it short: at most 1,024 numbers, between
 *       which distances are nearly those of the descriptors.
 *   <li>A {@link org.gramian.gallery.GalleryBuilder} collects these, with the {@link org.gramian.gallery.Item name, class and
 *       part} of each image and its {@linkplain org.gramian.image.Thumbnail thumbnail}, to a {@link
 *       org.gramian.gallery.Gallery}.
 *   <li>That is kept as {@code gallery.safetensors} beside {@code model.safetensors}, and says which model it is of.
 *   <li>{@link org.gramian.gallery.Neighbours} finds the images of a gallery that are nearest to a new one.
 * </ol>
 */
@NullMarked
package org.gramian.gallery;

import org.jspecify.annotations.NullMarked;
