/** Explanation by gradients of a score with respect to feature maps. */
@NullMarked
package org.gramian.explain.gradient;

import org.jspecify.annotations.NullMarked;
