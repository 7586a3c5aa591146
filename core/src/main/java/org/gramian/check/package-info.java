/**
 * Gradient checks of poolings.
 *
 * <p>A {@link org.gramian.check.PoolingCheck} compares the gradients of a pooling with central differences, also where a
 * backward formula is stated not to be the derivative. {@code gramian doctor --pooling} shows its results, the tests assert them.
 */
@NullMarked
package org.gramian.check;

import org.jspecify.annotations.NullMarked;
