/**
 * Tensors on libtorch, called through its C ABI.
 *
 * <p>The first tensor finds the native libraries (an installed PyTorch, or the Maven artifact unpacked once into a cache)
 * and loads them through the foreign-function interface. A {@link org.gramian.tensor.Tensor} is a handle on native memory
 * with a {@link org.gramian.tensor.DType}, a {@link org.gramian.tensor.Shape} and a {@link org.gramian.tensor.Device}.
 * {@link org.gramian.tensor.Tensors} makes them; a {@link org.gramian.tensor.Scope} frees them:
 *
 * <pre>{@code
 * try (Scope _ = Scope.open()) {
 *     Tensor m = Tensors.gaussian(new SplittableRandom(7), Shape.of(3, 5), DType.F64);
 *     Tensor gram = m.matmul(m.transpose());
 *     double[] values = gram.toDoubles();
 * } // both tensors are freed here
 * }</pre>
 *
 * <p>Operators are methods of {@link org.gramian.tensor.Tensor}; others are in {@link org.gramian.tensor.Convolution},
 * {@link org.gramian.tensor.Convolution.Window} and {@link org.gramian.tensor.Decompositions}. Each checks types and shapes before it
 * calls native code, and names itself and both shapes when they do not fit.
 *
 * <p>An {@link org.gramian.tensor.Operator} calls an ATen operator by name; {@code DeviceFunctions} calls per-device C
 * functions for arguments that the dispatcher of libtorch 2.7 does not accept.
 */
@NullMarked
package org.gramian.tensor;

import org.jspecify.annotations.NullMarked;
