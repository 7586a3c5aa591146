/**
 * Optimizers: how parameters follow their gradients.
 *
 * <p>{@link org.gramian.train.Sgd} moves every {@link org.gramian.autodiff.Parameter} by its role: plain ones by
 * momentum and weight decay, those on the Stiefel manifold by {@link org.gramian.train.StiefelStep}, a Riemannian
 * gradient step whose momentum is transported by the tangent projection. Constants live in {@link
 * org.gramian.train.SgdOptions} and {@link org.gramian.train.StiefelOptions}, each default with its reason.
 *
 * <pre>{@code
 * try (Sgd sgd = new Sgd(SgdOptions.defaults(0.1))) {
 *     for (Batch batch : batches) {
 *         try (Tape tape = Tape.recording()) {
 *             Map<String, Var> variables = parameters.variables(tape);
 *             Var loss = ...;
 *             try (Gradients gradients = tape.backward(loss)) {
 *                 sgd.step(parameters, variables, gradients);
 *             }
 *         }
 *     }
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.train;

import org.jspecify.annotations.NullMarked;
