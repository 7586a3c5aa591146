/**
 * The training loop: both stages of the paper's Algorithm 1, with exact resume.
 *
 * <pre>{@code
 * TrainingData data = new TrainingData(parts, crops.training(seed), crops.testing(), extraction);
 * Checkpointing checkpointing = new Checkpointing(folder.resolve("checkpoint.safetensors"), identity, Duration.ofMinutes(1));
 * TrainingContext context = TrainingContext.of(Device.CPU)
 *         .withListener(event -> show(event))
 *         .withCancellation(Cancellation.after(Duration.ofHours(8)))
 *         .withCheckpointing(checkpointing);
 * Optional<Cancellation.Reason> early = new TwoStageTraining(model, recipe, data, context)
 *         .run((outcome, scores) -> evaluate(outcome.stage(), scores.test().get()));   // model: the best of the stage
 * if (early.isEmpty()) {
 *     ModelFile.write(folder.resolve("model.safetensors"), model, card);
 *     checkpointing.remove();
 * }
 * }</pre>
 *
 * <ol>
 *   <li>{@link org.gramian.train.loop.Checkpointing} restores a checkpoint, or the pooling is fitted to training images.
 *   <li>{@link org.gramian.train.loop.Fit} is the training loop of a {@link org.gramian.train.loop.TrainingStage} over {@link
 *       org.gramian.train.loop.Examples}: the head on features of the frozen backbone, then all layers on images. {@code SolvedHead}
 *       replaces both if the recipe has a {@link org.gramian.linear.LinearSolver}.
 *   <li>{@link org.gramian.train.loop.Steps} are eager or replay a CUDA graph. {@code EagerSteps.step} reads from forward to update. All minimize the loss of a {@link
 *       org.gramian.train.loop.Trainable}. A NaN or infinite value is a {@link org.gramian.train.loop.NonFiniteLossException} with its
 *       layer.
 *   <li>After each epoch the validation set is scored, the best parameters are kept, and history and checkpoint are written. The test
 *       set is scored only at the end of a stage.
 *   <li>{@link org.gramian.train.loop.Cancellation} is checked before each step: {@code CANCELLED} leaves a checkpoint, {@code
 *       OUT_OF_TIME} also the best model so far.
 * </ol>
 *
 * <p>Order, crops and dropout follow from the seed, so a resumed training ends with the same bits as an uninterrupted one.
 */
@NullMarked
package org.gramian.train.loop;

import org.jspecify.annotations.NullMarked;
