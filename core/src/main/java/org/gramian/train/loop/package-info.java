/**
 * The training loop: both stages of the paper's Algorithm 1, with exact resume.
 *
 * <p>A {@link org.gramian.train.loop.TwoStageTraining} takes a model with random new layers, a {@link
 * org.gramian.train.recipe.Recipe}, the images as {@link org.gramian.train.loop.TrainingData}, and a {@link
 * org.gramian.train.loop.TrainingContext} with device, threads, listener, cancellation and checkpoints.
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
 * <p>From start to end:
 *
 * <ol>
 *   <li>{@link org.gramian.train.loop.Checkpointing} finds a checkpoint and restores parameters, optimizer state and {@code
 *       TrainingProgress}; without one the pooling is fitted to some training images.
 *   <li>Each stage is a {@code TrainingStage}, trained by a {@code StageLoop} over {@link org.gramian.train.loop.Examples}: in stage 1
 *       the features of the frozen backbone ({@code FeatureExamples}), in stage 2 images that are decoded ahead ({@code
 *       ImageExamples}, {@code StoredExamples}). A {@code TrainableModel} is the trained part: the head, then all layers.
 *   <li>If the recipe has a {@link org.gramian.linear.LinearSolver}, a {@code SolvedHead} replaces both stages: the descriptors of all
 *       training crops are computed once, and the classifier is solved in closed form.
 *   <li>The order of an epoch follows from (seed, stage, epoch). {@code Steps} are eager ({@code EagerSteps}, which accumulate gradients
 *       in a {@code GradientSum}) or replay a CUDA graph ({@code CudaGraphSteps}) over the batches of a {@code BatchSource}. Both
 *       compute the cross-entropy with {@link org.gramian.train.loop.Targets} and its gradients by {@code BatchGradient}. A
 *       non-finite loss or gradient is a {@link org.gramian.train.loop.NonFiniteLossException} with its origin, a {@link
 *       org.gramian.train.loop.NonFinite}.
 *   <li>After an epoch a {@code Validator} computes the score on the validation set; a {@code Snapshot} keeps the best parameters, and
 *       a checkpoint is written, as also every minute.
 *   <li>A stage ends with its best parameters. {@link org.gramian.train.loop.TwoStageTraining.StageEnd} may then compute {@link
 *       org.gramian.train.loop.ImageScores} of the test set, which is not used before.
 *   <li>{@link org.gramian.train.loop.Cancellation} is checked before each step. {@code CANCELLED} leaves a checkpoint only; {@code
 *       OUT_OF_TIME} leaves a checkpoint and ends the stage with the best parameters so far. Before there is a model, both are an
 *       {@link org.gramian.train.loop.InterruptedTrainingException}.
 * </ol>
 *
 * <p>A {@link org.gramian.train.loop.DistributedStage} is stage 1 with its crops on many machines: the same {@code StageLoop}, with the
 * gradient of each step from {@link org.gramian.train.loop.HeadWorkers} as a sum of {@link org.gramian.train.loop.StepPart}s, which
 * {@code BatchGradient} computes, too.
 *
 * <p>The listener receives {@link org.gramian.train.loop.TrainEvent}s. The clock decides only when checkpoints are written and when the
 * time budget is over: a resumed training ends with the same bits as an uninterrupted one.
 */
@NullMarked
package org.gramian.train.loop;

import org.jspecify.annotations.NullMarked;
