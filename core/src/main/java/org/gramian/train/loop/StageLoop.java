package org.gramian.train.loop;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.image.batch.Shuffle;
import org.gramian.tensor.GpuMath;
import org.gramian.tensor.Libtorch;
import org.gramian.train.AveragedWeights;
import org.gramian.train.Optimizer;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Precision;
import org.gramian.train.recipe.Schedule;
import org.gramian.train.recipe.StageRecipe;
import org.gramian.train.recipe.ValidationScore;
import org.jspecify.annotations.Nullable;

/**
 * One stage of Algorithm 1: epochs of steps, each epoch judged, the best parameters kept, the state written down so that
 * a break costs nothing.
 */
final class StageLoop implements AutoCloseable {
    /**
     * What a stage works on.
     *
     * @param crops that make an epoch
     * @param maker of its steps
     */
    record Setup(
            TrainableModel trainee,
            Recipe recipe,
            int crops,
            @Nullable Validator judge,
            Steps.Maker maker) {
        private static final int LEAST_STEPS_WITH_TRIALS = 2000;

        StageRecipe stage() {
            return trainee.stage() == 1 ? recipe.stage1() : recipe.stage2();
        }

        /**
         * How a GPU takes a step: where there are convolutions, by what trials found fastest, unless it is to be reproducible. The
         * smaller batch at an epoch's end comes too seldom: its trials took longer than all its steps (7 s, GoogLeNet in bf16).
         * Nor do trials pay in a short stage: those of EfficientNet-Lite4 in bf16 take 35 s.
         */
        GpuMath math(int step) {
            boolean tf32 = recipe.precision() == Precision.TF32
                    || (recipe.precision() == Precision.BF16 && trainee.stage() == 2);
            GpuMath math = Libtorch.load().math().withTf32(tf32);
            boolean full = (step + 1L) * stride() <= crops;
            boolean pays = (long) stage().epochs() * steps() >= LEAST_STEPS_WITH_TRIALS;
            return trainee.stage() == 2 && full && pays ? math.withTrials() : math;
        }

        /** Crops that make a step. */
        int stride() {
            return recipe.batching().batch() * recipe.batching().accumulate();
        }

        int steps() {
            return Math.ceilDiv(crops, stride());
        }

        /** The order of an epoch: it follows from seed, stage and epoch alone. */
        int[] order(int epoch) {
            return Shuffle.epoch(crops, recipe.seed(), epochNumber(epoch));
        }

        /** Unique number of stage and epoch: order and augmentation follow from it and the seed. */
        long epochNumber(int epoch) {
            return trainee.stage() * 1_000_000L + epoch;
        }

        /** The dropout of descriptors in an epoch. */
        Dropout dropout(int epoch) {
            return Dropout.of(recipe.dropout(), recipe.seed(), trainee.stage(), epoch);
        }
    }

    private final Setup setup;
    private final Cancellation breaks;
    private final TrainingSession session;
    private final CheckpointWriter saver;
    private final Consumer<TrainEvent> events;
    private final Optimizer optimizer;
    private final Snapshot best = new Snapshot();
    private TrainingProgress position;
    private @Nullable Steps steps;

    StageLoop(Setup setup, TrainingProgress start, TrainingSession session) {
        this.setup = setup;
        this.position = start;
        this.session = session;
        this.breaks = session.breaks();
        this.events = session.events();
        this.saver = new CheckpointWriter(session.keeper(), new Stopwatch());
        this.optimizer = setup.recipe.optimizer().create();
    }

    /**
     * Trains, from a checkpoint of this stage if there is one; it ends with the best parameters, unless somebody asked for a break.
     *
     * @return why it stopped before its end; nothing if it came there
     * @throws InterruptedTrainingException if it stopped before there was a model
     */
    Optional<Cancellation.Reason> train(@Nullable Checkpoint checkpoint) throws IOException {
        if (checkpoint != null) {
            restore(checkpoint);
        }
        Optional<Cancellation.Reason> early = run();
        if (early.isPresent() && !hasModel()) {
            throw new InterruptedTrainingException(early.get());
        }
        if (early.isEmpty() || early.get() == Cancellation.Reason.OUT_OF_TIME) {
            useBest();
        }
        return early;
    }

    private void restore(Checkpoint checkpoint) throws IOException {
        position = checkpoint.position();
        checkpoint.restore(state());
    }

    private Checkpoint.State state() {
        return new Checkpoint.State(setup.trainee, optimizer, best);
    }

    TrainingProgress position() {
        return position;
    }

    /** Trains to the end of the stage, or to a break, of which the reason is told. */
    Optional<Cancellation.Reason> run() throws IOException {
        int number = setup.trainee.stage();
        int end = epochs();
        events.accept(new TrainEvent.StageStarted(number, end, setup.steps(), setup.crops));
        if (position.epoch() == 0 && position.step() == 0) {
            keepBest();
        }
        if (setup.stage().autoRate() && position.found().isEmpty()) {
            try {
                findRate();
            } catch (InterruptedTrainingException interrupted) {
                saver.save(position, state());
                return Optional.of(interrupted.reason());
            }
        }
        while (position.epoch() < end && !ended()) {
            Optional<Cancellation.Reason> reason = epoch();
            if (reason.isPresent()) {
                saver.save(position, state());
                return reason;
            }
            if (epochs() > end && !ended()) {
                end = epochs();
                events.accept(new TrainEvent.StageExtended(number, end, Improvement.of(position.judgements())));
            }
        }
        Optional<Improvement> improving = Optional.of(Improvement.of(position.judgements()))
                .filter(improvement -> improvement.isRelevant() && !ended());
        events.accept(new TrainEvent.StageDone(number, position.epoch(), position.kept(), ending(), improving));
        return Optional.empty();
    }

    /** The rate goes into a checkpoint at once: on a GPU another test could find another one. */
    private void findRate() throws IOException {
        long begun = System.nanoTime();
        LearningRateFinder.Result result = new LearningRateFinder(setup, position, session).run();
        events.accept(new TrainEvent.RateFound(result, (System.nanoTime() - begun) / 1e9));
        position = position.withRate(result.rate());
        saver.save(position, state());
    }

    /** The most epochs of the stage, by the loss of those that are over. */
    private int epochs() {
        return setup.stage().epochs(position.judgements());
    }

    private boolean ended() {
        return setup.stage().schedule().ended(position.judgements());
    }

    private String ending() {
        return ended() ? "early stopping" : "all epochs done";
    }

    /** Whether anything was trained yet, in this stage or before it. */
    private boolean hasModel() {
        return position.step() > 0
                || position.epoch() > 0
                || !position.initial().equals(ValidationScore.NONE);
    }

    /**
     * Gives the model the best parameters of the stage. Before the end of the very first epoch those are the random ones it
     * began with: then it is left as it is.
     */
    private void useBest() {
        if (position.epoch() > 0 || !position.initial().equals(ValidationScore.NONE)) {
            best.restore(setup.trainee.parameters());
        } else {
            try (AveragedWeights averages = averages()) {
                averages.keep();
            }
        }
    }

    /** Gives the model the averaged weights, where the recipe has them, until closed. */
    private AveragedWeights averages() {
        return new AveragedWeights(optimizer, setup.trainee.parameters().values());
    }

    private void keepBest() {
        best.take(setup.trainee.parameters());
    }

    private Optional<Cancellation.Reason> epoch() throws IOException {
        int[] all = setup.order(position.epoch());
        long seen = Math.min(all.length, (long) position.step() * setup.stride());
        int[] order = Arrays.copyOfRange(all, (int) seen, all.length);
        Libtorch libtorch = Libtorch.load();
        try (Steps.Epoch epoch = steps().epoch(order, setup.epochNumber(position.epoch()))) {
            int end = setup.steps();
            while (position.step() < end) {
                Optional<Cancellation.Reason> reason = breaks.due();
                if (reason.isPresent()) {
                    return reason;
                }
                Steps.Taken taken = libtorch.with(setup.math(position.step()), () -> epoch.take(position, this::rate));
                position = position.stepped(taken.sums(), taken.steps());
                tellSteps(taken.sums());
                saver.saveIfDue(position, state());
            }
        }
        try {
            finishEpoch(rate(setup.steps() - 1) * position.scale());
        } catch (InterruptedTrainingException asked) {
            return Optional.of(
                    Cancellation.Reason.ASKED); // all steps of the epoch are taken; it is judged when this goes on
        }
        return Optional.empty();
    }

    private void tellSteps(EpochSums sums) {
        events.accept(new TrainEvent.Stepped(
                setup.trainee.stage(),
                position.epoch(),
                position.step(),
                sums.seen(),
                sums.meanLoss(),
                sums.accuracy()));
    }

    /** Made when the first is wanted: what they need of the position is known then. */
    private Steps steps() {
        Steps present = steps;
        if (present == null) {
            present = setup.maker.make(setup, optimizer, HeadRates.of(setup.stage(), position));
            steps = present;
        }
        return present;
    }

    /** The learning rate of a step of the present epoch, from 0 on; that of the classifier is a multiple of it. */
    private double rate(int step) {
        StageRecipe stage = setup.stage();
        double epochs = position.epoch() + (double) step / setup.steps();
        double warmth = stage.warmup() == 0 ? 1 : Math.min(1, (epochs + 1.0 / setup.steps()) / stage.warmup());
        return position.found().orElse(stage.rate())
                * warmth
                * stage.schedule().factor(position.judgements(), epochs, stage.epochs());
    }

    private void finishEpoch(double rate) throws IOException {
        try (AveragedWeights _ = averages()) {
            validate(rate);
        }
        saver.saveAfterEpoch(position, state());
    }

    private void validate(double rate) {
        EpochSums sums = position.sums();
        ValidationScore judgement = setup.judge == null ? new ValidationScore(0, sums.meanLoss()) : setup.judge.judge();
        boolean better = keeps(judgement);
        if (better) {
            keepBest();
        }
        // Told before it is kept: what listeners write is then never behind the checkpoint.
        events.accept(new TrainEvent.EpochDone(
                setup.trainee.stage(),
                position.epoch(),
                rate,
                sums.meanLoss(),
                sums.accuracy(),
                judgement,
                better,
                setup.trainee.orthogonality()));
        position = position.epochDone(
                new TrainingProgress.EpochRecord(rate, sums.meanLoss(), sums.accuracy(), judgement), better);
    }

    /**
     * Whether the parameters after an epoch are kept. Without a validation set the last epoch is kept. Fine-tuning by cosine
     * decay ends at its best weights, so there the latest epoch is kept, unless it makes more validation errors than the model
     * that the stage began with. Otherwise the epoch of the lowest validation loss is kept.
     */
    private boolean keeps(ValidationScore judgement) {
        if (setup.judge == null) {
            return true;
        }
        boolean decays = setup.trainee.stage() == 2 && setup.stage().schedule() instanceof Schedule.Cosine;
        return decays ? judgement.error() <= position.initial().error() : judgement.isBetterThan(position.best());
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
