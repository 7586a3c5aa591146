/**
 * Augmentation of training images: random crops, flips, colour changes and erased rectangles, from images that are decoded once.
 *
 * <p>An {@link org.gramian.image.augment.Augmentation} draws the {@link org.gramian.image.augment.CropParameters} of an image from
 * (seed, epoch, image index) alone. {@link org.gramian.image.augment.CropRenderer} renders the crop of an image of the {@link
 * org.gramian.image.augment.ImageStore} on the CPU, {@link org.gramian.image.augment.ResidentImages} a batch on a GPU.
 */
@NullMarked
package org.gramian.image.augment;

import org.jspecify.annotations.NullMarked;
