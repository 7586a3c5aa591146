/** Explanations of predictions: heat maps, contributions of pairs of feature maps, and a test of their faithfulness. */
@NullMarked
package org.gramian.explain;

import org.jspecify.annotations.NullMarked;
