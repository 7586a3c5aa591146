/** Search for problems of a dataset: what is kept of each image, and what follows from it. */
@NullMarked
package org.gramian.image.audit.finding;

import org.jspecify.annotations.NullMarked;
