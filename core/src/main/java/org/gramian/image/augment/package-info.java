/** Augmentation of training images: random crops, flips, colour changes and erased rectangles, from images that are decoded once. */
@NullMarked
package org.gramian.image.augment;

import org.jspecify.annotations.NullMarked;
