/**
 * Self-checks that run anywhere the program runs: reference values and gradients of every layer.
 *
 * <p>{@link org.gramian.check.GoldenCheck} compares layers with a folder of float64 reference files; {@link
 * org.gramian.check.LayerCheck} compares their gradients with central differences; {@link
 * org.gramian.check.PoolingCheck} does the latter for any pooling, also where a backward formula is stated not to be the
 * derivative. {@code gramian doctor} and {@code gramian gradcheck}
 * show their results, the tests assert them.
 */
@NullMarked
package org.gramian.check;

import org.jspecify.annotations.NullMarked;
