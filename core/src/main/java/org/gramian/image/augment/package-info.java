/**
 * Augmentation of training images: random crops, flips, colour changes and erased rectangles, from images that are decoded once.
 *
 * <p>An {@link org.gramian.image.augment.Augmentation} is the policy, written as {@code standard+erase:0.25}. It draws the {@link
 * org.gramian.image.augment.CropParameters} of an image from (seed, epoch, image index) alone. An {@link
 * org.gramian.image.augment.ImageStore} holds the decoded images; a {@link org.gramian.image.augment.CropRenderer} turns one of them
 * and its parameters into the preprocessed crop {@code [3, size, size]} on the CPU, and {@link
 * org.gramian.image.augment.ResidentImages} does the same for a batch on a GPU.
 *
 * <pre>{@code
 * Augmentation policy = Augmentation.parse("standard");
 * CropParameters parameters = policy.draw(new Augmentation.Draw(seed, epoch, image), geometry, 224);
 * new CropRenderer(224, preprocessing).render(store.image(image), parameters, target);
 * }</pre>
 */
@NullMarked
package org.gramian.image.augment;

import org.jspecify.annotations.NullMarked;
