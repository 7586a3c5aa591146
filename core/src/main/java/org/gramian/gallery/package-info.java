/** The gallery of a run: its images with thumbnails and short descriptors, stored beside the model. */
@NullMarked
package org.gramian.gallery;

import org.jspecify.annotations.NullMarked;
