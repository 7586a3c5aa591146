/** Synthetic images of {@code gramian demo}, for a first run without own images. */
@NullMarked
package org.gramian.demo;

import org.jspecify.annotations.NullMarked;
