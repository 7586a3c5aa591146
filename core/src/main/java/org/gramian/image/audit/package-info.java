/** Problems of a dataset that would harm training: unreadable images, duplicates, classes, sizes, colours. */
@NullMarked
package org.gramian.image.audit;

import org.jspecify.annotations.NullMarked;
