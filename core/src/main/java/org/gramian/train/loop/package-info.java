/**
 * The training loop: both stages of the paper's Algorithm 1, with exact resume.
 *
 * <pre>{@code
 * TrainingData data = new TrainingData(parts, crops.training(seed), crops.testing(), extraction);
 * Checkpointing checkpointing = new Checkpointing(folder.resolve("checkpoint.safetensors"), identity, Duration.ofMinutes(1));
 * TrainingContext<TrainEvent> context = TrainingContext.<TrainEvent>of(Device.CPU)
 *         .withListener(event -> show(event))
 *         .withCancellation(Cancellation.after(Duration.ofHours(8)))
 *         .withCheckpointing(checkpointing);
 * Optional<Cancellation.Reason> early = new TwoStageTraining(model, recipe, data, context)
 *         .run((stage, scores) -> evaluate(stage, scores.test().compute()));   // model: the best of the stage
 * if (early.isEmpty()) {
 *     ModelFile.write(folder.resolve("model.safetensors"), model, card);
 *     checkpointing.remove();
 * }
 * }</pre>
 *
 * <ol>
 *   <li>{@link org.gramian.train.loop.Checkpointing} restores a checkpoint, or the pooling is fitted to training images.
 *   <li>A {@code StageLoop} trains each {@code TrainingStage} over {@link org.gramian.train.loop.Examples}: the head on features of the
 *       frozen backbone, then all layers on images. {@code SolvedHead} replaces both if the recipe has a {@link
 *       org.gramian.linear.LinearSolver}.
 *   <li>{@code Steps} are eager, replay a CUDA graph, or gather gradients of other machines ({@link
 *       org.gramian.train.loop.DistributedStage}). All compute loss and gradients by {@code BatchGradient}. A NaN or infinite value is a
 *       {@link org.gramian.train.loop.NonFiniteLossException} with its origin.
 *   <li>After each epoch the validation set is scored, a {@code Snapshot} keeps the best parameters, and a checkpoint is written. The
 *       test set is scored only at the end of a stage.
 *   <li>{@link org.gramian.train.loop.Cancellation} is checked before each step: {@code CANCELLED} leaves a checkpoint, {@code
 *       OUT_OF_TIME} also the best model so far.
 * </ol>
 *
 * <p>Order, crops and dropout follow from the seed, so a resumed training ends with the same bits as an uninterrupted one.
 */
@NullMarked
package org.gramian.train.loop;

import org.jspecify.annotations.NullMarked;
