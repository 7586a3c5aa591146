/**
 * Optimizers: SGD and AdamW with Riemannian steps for parameters on the Stiefel manifold.
 *
 * <p>An {@link org.gramian.train.Optimizer} moves every {@link org.gramian.autodiff.Parameter} by its role: weights with weight decay,
 * biases without, matrices with orthonormal columns along the Stiefel manifold. {@link org.gramian.train.CudaGraphOptimizer} takes the
 * same steps on a GPU without host synchronization. Recipes are in {@code train.recipe}, cached features in {@code train.feature}, the
 * training loop in {@code train.loop}; start with {@code run}.
 *
 * <pre>{@code
 * try (Optimizer optimizer = new Optimizer(SgdOptions.defaults(0.1))) {
 *     for (Batch batch : batches) {
 *         try (Tape tape = Tape.recording()) {
 *             Map<String, Var> variables = parameters.variables(tape);
 *             Var loss = ...;
 *             try (Gradients gradients = tape.backward(loss)) {
 *                 optimizer.step(parameters, variables, gradients);
 *             }
 *         }
 *         optimizer.setLearningRate(...);    // by a Schedule
 *     }
 * }
 * }</pre>
 */
@NullMarked
package org.gramian.train;

import org.jspecify.annotations.NullMarked;
