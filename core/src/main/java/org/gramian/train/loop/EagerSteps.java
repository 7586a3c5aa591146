package org.gramian.train.loop;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.Tape;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.train.Optimizer;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.loop.BatchMixing.Mixed;
import org.gramian.train.loop.Examples.Minibatch;
import org.gramian.train.loop.StageProgress.EpochSums;
import org.gramian.train.loop.Steps.StepResult;
import org.jspecify.annotations.Nullable;

/** Steps taken one by one on any device, each over one batch, or several by gradient accumulation. */
final class EagerSteps implements Steps {
    private final TrainingStage stage;
    private final Optimizer optimizer;
    private final List<ParameterGroup> groups;
    private final Optional<BatchMixing> mixing;
    private int[] order = {};
    private int next;
    private Examples.@Nullable Pass pass;

    EagerSteps(TrainingStage stage, Optimizer optimizer, List<ParameterGroup> groups) {
        this.stage = stage;
        this.optimizer = optimizer;
        this.groups = groups;
        this.mixing = BatchMixing.of(stage);
    }

    @Override
    public void startEpoch(int[] indices, long epoch) {
        close();
        order = indices;
        next = 0;
        pass = stage.examples().pass(indices, stage.recipe().batching().batch(), epoch);
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
                        Optional<String> layer =
                                stage.model().nonFiniteLayer(batch.batch().input());
                        throw new NonFiniteLossException(
                                progress,
                                rate,
                                "the loss is NaN or infinite, "
                                        + layer.map(name -> "first in " + name)
                                                .orElse("the values of all layers are finite"));
                    }
                    sums = sums.plusSum(mean * labels.length, loss.correct(labels), labels.length);
                    try (Gradients gradients = loss.backward((double) labels.length / crops)) {
                        sum.add(loss, gradients);
                    }
                    next += labels.length;
                }
            }
            sum.nonFinite().ifPresent(parameter -> {
                throw new NonFiniteLossException(
                        progress, rate, "the gradient of " + parameter.name() + " is NaN or infinite");
            });
            optimizer.setLearningRate(rate);
            optimizer.step(groups, sum.sums);
        }
        if (next == order.length) {
            close(); // frees the images of the epoch before its validation
        }
        return new StepResult(1, sums);
    }

    private Mixed batch(StageProgress progress, int number) {
        Minibatch batch = Objects.requireNonNull(pass, "no epoch was started").next();
        Mixed plain = new Mixed(
                batch, stage.targets().rows(batch.labels(), batch.input().device()));
        return mixing.map(mix -> mix.apply(plain, progress, number)).orElse(plain);
    }

    @Override
    public void close() {
        if (pass != null) {
            pass.close();
            pass = null;
        }
    }

    /**
     * Gradient accumulation: the gradients of one step, added up over its batches. Owns one sum for each parameter, outside every
     * scope: any number of batches takes the memory of one.
     */
    static final class GradientSum implements AutoCloseable {
        final Map<Parameter, Tensor> sums = new LinkedHashMap<>();

        /** Adds the gradients that reached the parameters of a batch. */
        void add(Trainable.Loss loss, Gradients gradients) {
            loss.variables().forEach((parameter, variable) -> {
                if (gradients.has(variable)) {
                    Tensor former = sums.get(parameter);
                    if (former == null) {
                        sums.put(parameter, gradients.release(variable));
                        return;
                    }
                    try (Scope scope = Scope.open()) {
                        Tensor sum = former.add(gradients.of(variable));
                        scope.release(sum);
                        sums.put(parameter, sum);
                    }
                    former.close();
                }
            });
        }

        /** Returns the first parameter whose gradient has a NaN or infinite element; empty if there is none. */
        Optional<Parameter> nonFinite() {
            // One finite total proves it with one transfer from a GPU. Large elements may overflow it: then each sum is
            // checked.
            return Double.isFinite(total())
                    ? Optional.empty()
                    : sums.entrySet().stream()
                            .filter(sum -> !sum.getValue().allFinite())
                            .map(Map.Entry::getKey)
                            .findFirst();
        }

        private double total() {
            try (Scope _ = Scope.open()) {
                @Nullable Tensor total = null;
                for (Tensor sum : sums.values()) {
                    Tensor one = sum.sum().to(DType.F32);
                    total = total == null ? one : total.add(one);
                }
                return total == null ? 0 : total.item();
            }
        }

        @Override
        public void close() {
            sums.values().forEach(Tensor::close);
            sums.clear();
        }
    }
}
