/**
 * Training: from gradients to a model, in four parts that stand on each other.
 *
 * <ol>
 *   <li>This package has the optimizers. An {@link org.gramian.train.Optimizer}, SGD or AdamW, moves every {@link
 *       org.gramian.autodiff.Parameter} by its role: weights with weight decay, biases without, and matrices on the Stiefel manifold by Riemannian steps ({@link org.gramian.train.StiefelStep})
 *       whose momentum is transported by the tangent projection. It clips gradients by their norm and keeps averaged weights
 *       ({@link org.gramian.train.AveragedWeights}). A {@link org.gramian.train.ParameterGroup} gives some parameters a
 *       learning rate of their own, as the backbone's in stage 2. Constants live in {@link org.gramian.train.OptimizerOptions} and {@link org.gramian.train.StiefelOptions}, each
 *       default with its reason; {@code StiefelOptions.of} has those of the paper as printed and of its authors' code. On a
 *       GPU {@link org.gramian.train.CudaGraphOptimizer} takes the same steps without host synchronization; the host reads their
 *       outcome from {@link org.gramian.train.GpuStepState}.
 *   <li>{@code train.recipe} has the recipe of a training: stages, schedules, loss.
 *   <li>{@code train.feature} computes and caches features of a frozen backbone.
 *   <li>{@code train.loop} is the training loop: steps, epochs, two stages, checkpoints.
 * </ol>
 *
 * <p>Nothing here knows of folds, configuration files or test results: that is {@code run}, where newcomers should begin.
 *
 * <p>One optimizer by hand, as the loop uses it:
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
