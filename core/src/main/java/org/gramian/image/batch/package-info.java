/** Batches of crops, decoded ahead by several threads, in a deterministic order. */
@NullMarked
package org.gramian.image.batch;

import org.jspecify.annotations.NullMarked;
