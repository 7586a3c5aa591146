package org.gramian.train.loop;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.autodiff.Parameter;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.Optimizer;
import org.gramian.train.Optimizer.AveragedWeights;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Solved;
import org.gramian.train.loop.StageProgress.EpochSums;
import org.gramian.train.loop.StageResult.Improvement;
import org.gramian.train.loop.Steps.StepResult;
import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.StageRecipe;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/** The training loop of one stage. */
public final class Fit {
    private final TrainingStage stage;
    private final TrainingContext context;
    private final StageState state;
    private final Steps steps;
    private final Optional<Rival> rival;
    private StageProgress progress;

    private Fit(TrainingStage stage, StageState state, Steps steps, Optional<Rival> rival, StageProgress progress) {
        this.stage = stage;
        this.context = stage.context();
        this.state = state;
        this.steps = steps;
        this.rival = rival;
        this.progress = progress;
    }

    /**
     * End of a stage.
     *
     * @param early why it was interrupted; empty if it came to its end
     * @param result of its epochs; empty if they were interrupted, or the classifier was solved without any
     * @param classifier that was solved and is kept; empty if it is a trained one
     */
    public record StageOutcome(
            int stage,
            Optional<Cancellation.Reason> early,
            ValidationScore score,
            Optional<StageResult> result,
            Optional<Solved> classifier) {}

    /** Trains one stage. Restores the best parameters at the end, also when out of time, but not when cancelled. */
    public static StageOutcome run(
            TrainingStage stage, StageProgress start, Checkpointing.@Nullable Checkpoint checkpoint)
            throws IOException {
        return run(stage, start, checkpoint, Optional.empty());
    }

    /** Trains one stage, which a rival ends early. */
    static StageOutcome run(
            TrainingStage stage,
            StageProgress start,
            Checkpointing.@Nullable Checkpoint checkpoint,
            Optional<Rival> rival)
            throws IOException {
        stage.context().checkpointing().start();
        StageProgress progress = checkpoint == null ? start : checkpoint.progress();
        try (StageState state =
                new StageState(stage.model(), stage.recipe().optimizer().create())) {
            if (checkpoint != null) {
                checkpoint.restore(state);
            }
            if (progress.epoch() == 0 && progress.step() == 0) {
                state.keepBest();
            }
            try (Steps steps = Steps.of(stage, state.optimizer(), stage.model().groups(progress.scale()))) {
                return new Fit(stage, state, steps, rival, progress).epochs();
            }
        }
    }

    private StageOutcome epochs() throws IOException {
        StageRecipe recipe = stage.stageRecipe();
        context.send(new TrainEvent.StageStarted(stage.number(), mostEpochs(), stage.stepsPerEpoch(), stage.crops()));
        while (progress.epoch() < recipe.epochs() && whyStopped().isEmpty()) {
            Duration before = context.cancellation().elapsed();
            boolean whole = progress.step() == 0;
            steps.startEpoch(stage.order(progress), stage.epochNumber(progress.epoch()));
            while (progress.step() < stage.stepsPerEpoch()) {
                Optional<Cancellation.Reason> reason = context.cancellation().reason();
                if (reason.isPresent()) {
                    return interrupted(reason.get());
                }
                StepResult result = step();
                progress = progress.stepped(result);
                EpochSums sums = result.sums();
                context.send(new TrainEvent.Stepped(
                        stage.number(),
                        progress.epoch(),
                        progress.step(),
                        sums.seen(),
                        sums.meanLoss(),
                        sums.accuracy()));
                context.checkpointing().saveIfDue(progress, state);
            }
            EpochDone done;
            try {
                done = validate();
            } catch (InterruptedTrainingException interrupted) {
                return interrupted(interrupted.reason()); // a resumed run validates again
            }
            context.history().add(done); // before the checkpoint: a resumed run has all epochs that it does not repeat
            context.send(done);
            progress = progress.epochDone(done);
            if (whole) {
                limitEpochs(context.cancellation().elapsed().minus(before));
            }
            context.checkpointing().saveAfterEpoch(progress, state);
        }
        return ended();
    }

    /** Takes the next batch: forward, loss, backward and update are in {@link EagerSteps#step}; a CUDA graph replays several. */
    private StepResult step() {
        return Libtorch.load()
                .with(
                        stage.math(progress.step()),
                        () -> steps.step(progress, step -> stage.learningRate(progress, step)));
    }

    /** Validates by the averaged weights (EMA) if the recipe has some, and keeps the parameters if they are the best. */
    private EpochDone validate() {
        EpochSums sums = progress.sums();
        try (AveragedWeights _ = state.averagedWeights()) {
            TrainingStage.Validator validator = stage.validator();
            ValidationScore score = validator == null ? new ValidationScore(0, sums.meanLoss()) : validator.validate();
            boolean best = isBest(score);
            if (best) {
                state.keepBest();
            }
            return new EpochDone(
                    stage.number(),
                    progress.epoch(),
                    stage.learningRate(progress, stage.stepsPerEpoch() - 1) * progress.scale(),
                    sums.meanLoss(),
                    sums.accuracy(),
                    score.error(),
                    score.loss(),
                    best,
                    stage.model().orthogonality());
        }
    }

    /**
     * Returns whether the parameters after an epoch are kept as the best. Without a validation set the latest epoch is
     * kept. Fine-tuning with cosine decay is expected to end at its best, so the latest epoch is kept there, unless its
     * validation error exceeds that of the model at the start of the stage. Otherwise the validation loss decides.
     */
    private boolean isBest(ValidationScore score) {
        if (stage.validator() == null) {
            return true;
        }
        boolean decays = stage.number() == 2 && stage.stageRecipe().schedule() instanceof Schedule.Cosine;
        return decays ? score.error() <= progress.initial().error() : score.isBetterThan(progress.best());
    }

    private int mostEpochs() {
        int epochs = stage.stageRecipe().epochs();
        return progress.limit() > 0 ? Math.min(progress.limit(), epochs) : epochs;
    }

    private Optional<String> whyStopped() {
        StageRecipe recipe = stage.stageRecipe();
        if (recipe.schedule().ended(progress.validations())) {
            return Optional.of("early stopping");
        }
        if (rival.isEmpty() || progress.step() > 0 || progress.epoch() == recipe.epochs()) {
            return Optional.empty();
        }
        int last = mostEpochs();
        if (progress.epoch() >= last) {
            return Optional.of("as much time as the solved heads took");
        }
        return rival.get().isOutOfReach(progress.validations(), last - progress.epoch())
                ? Optional.of("the solved head is out of reach")
                : Optional.empty();
    }

    /**
     * Decides after the first whole epoch of a process how many there are, and writes a checkpoint with the number, so that a resumed run
     * trains as many.
     */
    private void limitEpochs(Duration epoch) throws IOException {
        if (rival.isPresent() && progress.limit() == 0) {
            progress = progress.limitedTo(Math.max(progress.epoch(), rival.get().epochs(epoch)));
            if (mostEpochs() < stage.stageRecipe().epochs()) {
                context.send(new TrainEvent.EpochsLimited(stage.number(), mostEpochs()));
            }
            context.checkpointing().save(progress, state);
        }
    }

    private StageOutcome ended() {
        restoreBest();
        Optional<String> stopped = whyStopped();
        Improvement improvement = Improvement.of(progress.validations());
        context.send(new TrainEvent.StageDone(
                stage.number(), progress.epoch(), progress.kept(), stopped.orElse("all epochs done")));
        StageResult result = new StageResult(
                stage.number(),
                stage.stageRecipe().epochs(),
                progress.epoch(),
                progress.kept() + 1,
                stage.validator() != null,
                Optional.of(improvement).filter(fall -> fall.isRelevant() && stopped.isEmpty()),
                Optional.empty());
        return new StageOutcome(
                stage.number(), Optional.empty(), progress.best(), Optional.of(result), Optional.empty());
    }

    private StageOutcome interrupted(Cancellation.Reason reason) throws IOException {
        context.checkpointing().save(progress, state);
        if (progress.step() == 0 && !hasBest()) {
            throw new InterruptedTrainingException(reason);
        }
        if (reason == Cancellation.Reason.OUT_OF_TIME) {
            restoreBest();
        }
        return new StageOutcome(
                stage.number(), Optional.of(reason), progress.best(), Optional.empty(), Optional.empty());
    }

    /** Restores the best parameters; during the very first epoch of a run, sets the averaged weights (EMA) instead. */
    private void restoreBest() {
        if (hasBest()) {
            state.restoreBest();
        } else {
            try (AveragedWeights averages = state.averagedWeights()) {
                averages.keep();
            }
        }
    }

    /** Returns whether the best parameters are trained ones: false during the very first epoch of a run. */
    private boolean hasBest() {
        return progress.epoch() > 0 || !progress.initial().equals(ValidationScore.NONE);
    }

    /** State of a stage besides its {@link StageProgress}: parameters, the optimizer, and copies of the best parameters. */
    record StageState(
            SequencedMap<String, Parameter> parameters, Optimizer optimizer, SequencedMap<String, Tensor> best)
            implements AutoCloseable {
        /** @param optimizer closed with this */
        StageState(Trainable model, Optimizer optimizer) {
            this(model.parameters(), optimizer, new LinkedHashMap<>());
        }

        /** Swaps the averaged weights (EMA) into the parameters until closed; has no effect if the recipe has no EMA. */
        AveragedWeights averagedWeights() {
            return new AveragedWeights(optimizer, parameters.values());
        }

        void keepBest() {
            closeBest();
            try (Scope _ = Scope.open()) {
                parameters.forEach(
                        (name, parameter) -> setBest(name, parameter.value().copy()));
            }
        }

        void setBest(String name, Tensor value) {
            Scope.detach(value);
            best.put(name, value);
        }

        void restoreBest() {
            best.forEach((name, value) ->
                    Objects.requireNonNull(parameters.get(name), name).set(value.copy()));
        }

        private void closeBest() {
            best.values().forEach(Tensor::close);
            best.clear();
        }

        @Override
        public void close() {
            optimizer.close();
            closeBest();
        }
    }
}
