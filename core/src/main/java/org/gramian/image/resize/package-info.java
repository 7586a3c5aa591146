/** Resampling of images, and thumbnails. */
@NullMarked
package org.gramian.image.resize;

import org.jspecify.annotations.NullMarked;
