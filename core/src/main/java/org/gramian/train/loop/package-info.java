/**
 * Training itself: the two stages of the paper's Algorithm 1, step by step, in a way that a break costs nothing.
 *
 * <p>A {@link org.gramian.train.loop.TwoStageTraining} takes a model with random new layers, a {@link
 * org.gramian.train.recipe.Recipe}, the images as {@link org.gramian.train.loop.Material}, and a {@link
 * org.gramian.train.loop.Session}: who is told, who may stop it, and where its state is kept.
 *
 * <pre>{@code
 * Material material = new Material(parts, crops.training(seed), crops.testing(), extraction, threads);
 * Breaks breaks = Breaks.after(Duration.ofHours(8));                       // breaks.ask() stops it at once
 * Keeper keeper = new Keeper(folder.resolve("checkpoint.safetensors"), identity, Keeper.DEFAULT_INTERVAL);
 * Session session = new Session(event -> show(event), breaks, Optional.of(keeper));
 * Optional<Breaks.Reason> early = new TwoStageTraining(model, recipe, material, session)
 *         .run((stage, scores) -> measure(stage, scores.test().compute()));   // model: the best of the stage
 * if (early.isEmpty()) {
 *     ModelFile.write(folder.resolve("model.safetensors"), model, card);
 *     keeper.remove();
 * }
 * }</pre>
 *
 * <p>From start to end:
 *
 * <ol>
 *   <li>A {@code Checkpoint} that the {@link org.gramian.train.loop.Keeper} finds gives all parameters, velocities and the
 *       {@code TrainingProgress} back; otherwise what the pooling takes from data is fitted to some training images.
 *   <li>Each stage is a {@code StageLoop} over {@link org.gramian.train.loop.Examples}: in stage 1 the features of the frozen
 *       backbone ({@code FeatureExamples}), in stage 2 images that are decoded ahead ({@code ImageExamples}). What is
 *       trained is a {@code TrainableModel}: the head, then everything. {@code Steps} are taken one by one ({@code EagerSteps}), or
 *       on a GPU several before anybody looks ({@code CudaGraphSteps}), over what a {@code BatchSource} brings: features that lie in its
 *       memory, or images that are copied there meanwhile.
 *   <li>Where the recipe has a {@link org.gramian.linear.LinearSolver}, a {@code SolvedHead} takes the place of both stages: the
 *       descriptors of all training crops are computed once, and weight and bias of the classifier solved for.
 *   <li>An epoch goes through all crops in an order that follows from seed, stage and epoch. A step adds up the gradients
 *       of its batches ({@code GradientSum}) of the cross-entropy with {@link org.gramian.train.loop.Targets}, at the rate
 *       of the stage's {@link org.gramian.train.recipe.Schedule}. A loss or gradient that is no number ends it with a {@link
 *       org.gramian.train.loop.NonFiniteLossException}, which says by {@link org.gramian.train.loop.NonFinite} where that
 *       began.
 *   <li>After an epoch a {@code Validator} asks the held-back images; the best parameters are kept in a {@code Snapshot}, and
 *       a checkpoint is written by the {@code CheckpointWriter}, as also every minute or so.
 *   <li>When a stage is over its best parameters are taken, and {@link org.gramian.train.loop.TwoStageTraining.StageEnd} may have
 *       {@link org.gramian.train.loop.ImageScores} of the test images, which are not looked at before.
 *   <li>{@link org.gramian.train.loop.Breaks} are asked before each step. {@code ASKED} leaves a checkpoint and no more;
 *       {@code OUT_OF_TIME} leaves a checkpoint and ends the stage with the best parameters so far. Where there is no model
 *       yet, both end in an {@link org.gramian.train.loop.InterruptedTrainingException}.
 * </ol>
 *
 * <p>Where the crops of stage 1 are spread over many machines, a {@link org.gramian.train.loop.DistributedStage} is that stage: the same
 * {@code StageLoop}, whose steps ({@code DistributedSteps}) get the gradient of each step from {@link
 * org.gramian.train.loop.HeadWorkers} as a {@link org.gramian.train.loop.StepPart}, the sum of the parts that each of them computed.
 * What is learned from a batch, {@code BatchGradient}, is the same code for all.
 *
 * <p>All of it is told as {@link org.gramian.train.loop.TrainEvent}s. Nothing depends on the clock but when checkpoints are
 * written and time is over: a training that went on from a checkpoint ends with the same bits as one that was left alone.
 */
@NullMarked
package org.gramian.train.loop;

import org.jspecify.annotations.NullMarked;
