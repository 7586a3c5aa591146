package org.gramian.train.loop;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.gramian.tensor.Libtorch;
import org.gramian.train.AveragedWeights;
import org.gramian.train.Optimizer;
import org.gramian.train.loop.TrainableModel.HeadRates;
import org.gramian.train.loop.TrainingProgress.EpochSums;
import org.gramian.train.loop.TrainingStage.Validator;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * Training loop of one stage: epochs of steps, validation after each epoch, best parameters, checkpoints.
 *
 * <p>A resumed loop ends with the same bits as an uninterrupted one.
 */
final class StageLoop implements AutoCloseable {
    private final TrainingStage stage;
    private final Checkpointing checkpointing;
    private final Optimizer optimizer;
    private final Snapshot best = new Snapshot();
    private TrainingProgress progress;
    private @Nullable Steps steps;

    StageLoop(TrainingStage stage, TrainingProgress start) {
        this.stage = stage;
        this.progress = start;
        this.checkpointing = stage.context().checkpointing();
        this.optimizer = stage.recipe().optimizer().create();
        checkpointing.start();
    }

    TrainingProgress progress() {
        return progress;
    }

    /**
     * Trains one stage, resuming from its checkpoint if present. Restores the best parameters at the end unless cancelled.
     *
     * @return why it stopped early; empty if it came to its end
     * @throws InterruptedTrainingException if it stopped before anything was trained
     */
    Optional<Cancellation.Reason> train(Checkpointing.@Nullable Checkpoint checkpoint) throws IOException {
        if (checkpoint != null) {
            progress = checkpoint.progress();
            checkpoint.restore(state());
        }
        Optional<Cancellation.Reason> early = run();
        if (early.isPresent() && !isTrained()) {
            throw new InterruptedTrainingException(early.get());
        }
        if (early.isEmpty() || early.get() == Cancellation.Reason.OUT_OF_TIME) {
            restoreBest();
        }
        return early;
    }

    /** Trains to the end of the stage, or to an interruption: then writes a checkpoint and returns the reason. */
    Optional<Cancellation.Reason> run() throws IOException {
        int end = epochs();
        stage.send(new TrainEvent.StageStarted(stage.number(), end, stage.stepsPerEpoch(), stage.crops()));
        if (progress.epoch() == 0 && progress.step() == 0) {
            best.take(stage.model().parameters());
        }
        Optional<Cancellation.Reason> early = findLearningRate();
        while (early.isEmpty() && progress.epoch() < end && !isStopped()) {
            early = trainEpoch();
            if (early.isEmpty()) {
                early = validateEpoch();
            }
            if (early.isEmpty() && epochs() > end && !isStopped()) {
                end = epochs();
                stage.send(new TrainEvent.StageExtended(stage.number(), end, Improvement.of(progress.validations())));
            }
        }
        if (early.isPresent()) {
            checkpointing.save(progress, state());
            return early;
        }
        String reason = isStopped() ? "early stopping" : "all epochs done";
        Optional<Improvement> improving = Optional.of(Improvement.of(progress.validations()))
                .filter(improvement -> improvement.isRelevant() && !isStopped());
        stage.send(new TrainEvent.StageDone(stage.number(), progress.epoch(), progress.kept(), reason, improving));
        return Optional.empty();
    }

    /** Runs the range test where the recipe has one. Its result is saved at once: on a GPU another test could find another. */
    private Optional<Cancellation.Reason> findLearningRate() throws IOException {
        if (!stage.stageRecipe().autoRate() || progress.found().isPresent()) {
            return Optional.empty();
        }
        long start = System.nanoTime();
        try {
            LearningRateFinder.Result result = new LearningRateFinder(stage, progress).run();
            stage.send(new TrainEvent.RateFound(result, (System.nanoTime() - start) / 1e9));
            progress = progress.withLearningRate(result.rate());
            checkpointing.save(progress, state());
            return Optional.empty();
        } catch (InterruptedTrainingException interrupted) {
            return Optional.of(interrupted.reason());
        }
    }

    /** Takes the remaining steps of the epoch, unless interrupted. */
    private Optional<Cancellation.Reason> trainEpoch() throws IOException {
        int[] all = stage.order(progress.epoch());
        long seen = Math.min(all.length, (long) progress.step() * stage.stepSize());
        int[] order = Arrays.copyOfRange(all, (int) seen, all.length);
        Libtorch libtorch = Libtorch.load();
        try (Steps.Epoch epoch = steps().epoch(order, stage.epochNumber(progress.epoch()))) {
            while (progress.step() < stage.stepsPerEpoch()) {
                Optional<Cancellation.Reason> reason =
                        stage.context().cancellation().reason();
                if (reason.isPresent()) {
                    return reason;
                }
                Steps.Taken taken = libtorch.with(
                        stage.math(progress.step()),
                        () -> epoch.take(progress, step -> stage.learningRate(progress, step)));
                progress = progress.stepped(taken.sums(), taken.steps());
                EpochSums sums = taken.sums();
                stage.send(new TrainEvent.Stepped(
                        stage.number(),
                        progress.epoch(),
                        progress.step(),
                        sums.seen(),
                        sums.meanLoss(),
                        sums.accuracy()));
                checkpointing.saveIfDue(progress, state());
            }
        }
        return Optional.empty();
    }

    /** Validates the epoch and keeps its parameters if they are better. Validation that is cancelled runs again on resume. */
    private Optional<Cancellation.Reason> validateEpoch() throws IOException {
        try (AveragedWeights _ = averagedWeights()) {
            double learningRate = stage.learningRate(progress, stage.stepsPerEpoch() - 1) * progress.scale();
            EpochSums sums = progress.sums();
            Validator validator = stage.validator();
            ValidationScore score = validator == null ? new ValidationScore(0, sums.meanLoss()) : validator.validate();
            boolean better = isBetter(score);
            if (better) {
                best.take(stage.model().parameters());
            }
            // Sent before the checkpoint: files that listeners write are never behind it.
            stage.send(new TrainEvent.EpochDone(
                    stage.number(),
                    progress.epoch(),
                    learningRate,
                    sums.meanLoss(),
                    sums.accuracy(),
                    score,
                    better,
                    stage.model().orthogonality()));
            progress = progress.epochDone(
                    new TrainingProgress.EpochRecord(learningRate, sums.meanLoss(), sums.accuracy(), score), better);
        } catch (InterruptedTrainingException interrupted) {
            return Optional.of(interrupted.reason());
        }
        checkpointing.saveAfterEpoch(progress, state());
        return Optional.empty();
    }

    /**
     * Whether the parameters after an epoch are kept. Without a validation set the last epoch is kept. Fine-tuning by cosine
     * decay ends at its best weights, so there the latest epoch is kept, unless it makes more validation errors than the model
     * that the stage began with. Otherwise the epoch of the lowest validation loss is kept.
     */
    private boolean isBetter(ValidationScore score) {
        if (stage.validator() == null) {
            return true;
        }
        boolean decays = stage.number() == 2 && stage.stageRecipe().schedule() instanceof Schedule.Cosine;
        return decays ? score.error() <= progress.initial().error() : score.isBetterThan(progress.best());
    }

    /** Returns the number of epochs of the stage, by the validation of those that are done. */
    private int epochs() {
        return stage.stageRecipe().epochs(progress.validations());
    }

    /** Whether the schedule ends the stage early. */
    private boolean isStopped() {
        return stage.stageRecipe().schedule().ended(progress.validations());
    }

    /** Whether anything was trained, in this stage or before it. */
    private boolean isTrained() {
        return progress.step() > 0 || hasBest();
    }

    /** Whether the best parameters are trained ones: not before the end of the very first epoch. */
    private boolean hasBest() {
        return progress.epoch() > 0 || !progress.initial().equals(ValidationScore.NONE);
    }

    /** Gives the model its best parameters, or in the very first epoch the averages of its steps. */
    private void restoreBest() {
        if (hasBest()) {
            best.restore(stage.model().parameters());
        } else {
            try (AveragedWeights averages = averagedWeights()) {
                averages.keep();
            }
        }
    }

    /** Gives the model the averaged weights until closed, where the recipe averages. */
    private AveragedWeights averagedWeights() {
        return new AveragedWeights(optimizer, stage.model().parameters().values());
    }

    private Checkpointing.State state() {
        return new Checkpointing.State(stage.model(), optimizer, best);
    }

    /** Created at the first step: by then the progress is restored and the learning rate found. */
    private Steps steps() {
        Steps present = steps;
        if (present == null) {
            present = stage.steps().create(stage, optimizer, HeadRates.of(stage.stageRecipe(), progress));
            steps = present;
        }
        return present;
    }

    @Override
    public void close() {
        if (steps != null) {
            steps.close();
        }
        optimizer.close();
        best.close();
    }
}
