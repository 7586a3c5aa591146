package org.gramian.train.loop;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.gramian.tensor.library.Libtorch;
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
 * Training loop of one stage (1: head on a frozen backbone, 2: fine-tuning): epochs of steps, validation after each
 * epoch, best parameters, checkpoints.
 *
 * <p>A resumed loop ends with bit-identical parameters to an uninterrupted one.
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
     * Trains one stage, resuming from its checkpoint if present. Restores the best parameters at the end, also when out
     * of time, but not when cancelled.
     *
     * @return the reason for an interruption; empty if all epochs are done or early stopping ended the stage
     * @throws InterruptedTrainingException if interrupted before the first step of the run
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

    /** Runs the epochs. If interrupted, writes a checkpoint and returns the reason. */
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

    /**
     * Runs the learning rate range test if the recipe has one. Saves its result at once: repeated on a GPU, the test
     * may find another learning rate.
     */
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

    /** Validates after an epoch and keeps its parameters if better. An interrupted validation is repeated on resume. */
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
     * Returns whether the parameters after an epoch are kept as the best. Without a validation set the latest epoch is
     * kept. Fine-tuning with cosine decay is expected to end at its best, so the latest epoch is kept there, unless its
     * validation error exceeds that of the model at the start of the stage. Otherwise the validation loss decides.
     */
    private boolean isBetter(ValidationScore score) {
        if (stage.validator() == null) {
            return true;
        }
        boolean decays = stage.number() == 2 && stage.stageRecipe().schedule() instanceof Schedule.Cosine;
        return decays ? score.error() <= progress.initial().error() : score.isBetterThan(progress.best());
    }

    /** Returns the number of epochs of the stage, which grows if the recipe extends it while validation improves. */
    private int epochs() {
        return stage.stageRecipe().epochs(progress.validations());
    }

    /** Returns whether the schedule stops the stage early (early stopping). */
    private boolean isStopped() {
        return stage.stageRecipe().schedule().ended(progress.validations());
    }

    /** Returns whether any step was done, in this stage or an earlier one. */
    private boolean isTrained() {
        return progress.step() > 0 || hasBest();
    }

    /** Returns whether the best parameters are trained ones: false during the very first epoch of a run. */
    private boolean hasBest() {
        return progress.epoch() > 0 || !progress.initial().equals(ValidationScore.NONE);
    }

    /** Restores the best parameters; during the very first epoch, sets the averaged weights (EMA) instead. */
    private void restoreBest() {
        if (hasBest()) {
            best.restore(stage.model().parameters());
        } else {
            try (AveragedWeights averages = averagedWeights()) {
                averages.keep();
            }
        }
    }

    /** Swaps the averaged weights (EMA) into the model until closed; has no effect if the recipe has no EMA. */
    private AveragedWeights averagedWeights() {
        return new AveragedWeights(optimizer, stage.model().parameters().values());
    }

    private Checkpointing.State state() {
        return new Checkpointing.State(stage.model(), optimizer, best);
    }

    /** Returns the steps, created on first use: by then the progress is restored and the learning rate is known. */
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
