/**
 * Reverse-mode automatic differentiation.
 *
 * <p>A {@link org.gramian.autodiff.Tape} records what is computed. A {@link org.gramian.autodiff.Var} is a tensor on a
 * tape; its methods and the functions of {@link org.gramian.autodiff.network.FeatureMaps} and {@link
 * org.gramian.autodiff.network.Classification} compute new variables. {@link org.gramian.autodiff.Tape#backward} then walks the
 * tape from its end and computes the {@link org.gramian.autodiff.Gradients} of the variables:
 *
 * <pre>{@code
 * try (Tape tape = Tape.recording()) {
 *     Var w = tape.variable(weights);
 *     Var loss = Classification.crossEntropy(tape.constant(x).matmul(w), targets);
 *     try (Gradients gradients = tape.backward(loss)) {
 *         Tensor dW = gradients.of(w);
 *     }
 * }
 * }</pre>
 *
 * <p>A new function is a call of {@link org.gramian.autodiff.Tape#apply} that returns a {@link
 * org.gramian.autodiff.Result}: the value, the tensors saved for the backward pass, and the adjoint. {@link
 * org.gramian.autodiff.GradientCheck} compares the adjoint with central differences in float64.
 *
 * <p>A {@link org.gramian.autodiff.Layer} is a function with parameters: it specifies them ({@link
 * org.gramian.autodiff.ParameterSpec}) and is applied to variables bound to their names ({@link
 * org.gramian.autodiff.Bindings}). {@link org.gramian.autodiff.Parameter} is the value that training changes.
 */
@NullMarked
package org.gramian.autodiff;

import org.jspecify.annotations.NullMarked;
