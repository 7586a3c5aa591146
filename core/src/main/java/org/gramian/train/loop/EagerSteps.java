package org.gramian.train.loop;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.Scope;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.loop.BatchMixing.Mixed;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.StageProgress.EpochSums;
import org.jspecify.annotations.Nullable;

/** Steps taken one by one on any device, each over one batch, or several by gradient accumulation. */
final class EagerSteps implements Steps {
    private final TrainingStage stage;
    private final Examples examples;
    private final Targets targets;
    private final Optimizer optimizer;
    private final List<ParameterGroup> groups;
    private final Optional<BatchMixing> mixing;
    private int[] order = {};
    private int next;
    private Examples.@Nullable Pass pass;

    EagerSteps(
            TrainingStage stage, Examples examples, Targets targets, Optimizer optimizer, List<ParameterGroup> groups) {
        this.stage = stage;
        this.examples = examples;
        this.targets = targets;
        this.optimizer = optimizer;
        this.groups = groups;
        this.mixing = BatchMixing.of(stage);
    }

    @Override
    public void startEpoch(int[] indices, long epoch) {
        close();
        order = indices;
        next = 0;
        pass = examples.pass(indices, stage.recipe().batching().batch(), epoch);
    }

    @Override
    public StepResult step(StageProgress progress, IntToDoubleFunction learningRate) {
        double rate = learningRate.applyAsDouble(progress.step());
        Dropout dropout = stage.dropout(progress.epoch());
        int crops = Math.min(order.length - next, stage.stepSize());
        int end = next + crops;
        EpochSums sums = progress.sums();
        try (GradientSum sum = new GradientSum()) {
            for (int number = 0; next < end; number++) { // batches of gradient accumulation
                try (Scope _ = Scope.open(); // frees each batch before the next one is computed
                        Tape tape = Tape.recording()) {
                    Mixed batch = batch(progress, number);
                    int[] labels = batch.batch().labels();
                    int[] indices = Arrays.copyOfRange(order, next, next + labels.length);
                    Trainable.Loss loss =
                            stage.model().loss(tape, batch.batch().input(), batch.targets(), dropout.of(indices));
                    double mean = loss.mean();
                    if (!Double.isFinite(mean)) {
                        throw NonFiniteLossException.ofLoss(
                                progress,
                                rate,
                                stage.model().nonFiniteLayer(batch.batch().input()));
                    }
                    sums = sums.plusSum(mean * labels.length, loss.correct(labels), labels.length);
                    try (Gradients gradients = loss.backward((double) labels.length / crops)) {
                        sum.add(loss, gradients);
                    }
                    next += labels.length;
                }
            }
            sum.nonFinite().ifPresent(parameter -> {
                throw NonFiniteLossException.ofGradient(progress, rate, parameter);
            });
            optimizer.setLearningRate(rate);
            optimizer.step(groups, sum.sums());
        }
        if (next == order.length) {
            close(); // frees the images of the epoch before its validation
        }
        return new StepResult(1, sums);
    }

    /** @param number of the batch in the step */
    private Mixed batch(StageProgress progress, int number) {
        if (pass == null) {
            throw new IllegalStateException("no epoch was started");
        }
        Minibatch batch = pass.next();
        Mixed plain =
                new Mixed(batch, targets.rows(batch.labels(), batch.input().device()));
        return mixing.map(mix -> mix.apply(plain, progress, number)).orElse(plain);
    }

    @Override
    public void close() {
        if (pass != null) {
            pass.close();
            pass = null;
        }
    }
}
