package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.CudaGraphOptimizerTest.values;

import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.gramian.accelerate.Acceleration;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Layer;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.Classification;
import org.gramian.model.Head;
import org.gramian.pooling.Pooling;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.gramian.train.Optimizer.ParameterGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Work that follows a gradient on the side stream. */
class GradientHookTest {
    private static final int IMAGES = 12;
    private static final int CHANNELS = 48;
    private static final int CLASSES = 4;
    private static final int STEPS = 6;
    private static final Head HEAD = new Head(Pooling.parse("conv:64/rbf/spd:16/relu/triu/root/l2"), CLASSES, false);
    private static final Layer POOLING = Acceleration.rewrite(HEAD.pooling());
    private static final StiefelOptions STIEFEL = new StiefelOptions(0.5, Stiefel.Metric.CANONICAL, Retraction.QR);
    private static final Sgd SGD = new Sgd(0.1, 0.9, 0.01, STIEFEL);

    static Stream<Arguments> optimizers() {
        return Stream.of(SGD, new AdamW(0.01, 0.9, 0.99, 0.1, STIEFEL))
                .flatMap(rule -> Stream.of(0.0, 0.5).map(clip -> Arguments.of(rule, clip)));
    }

    /** Registers hooks of a step, before its backward pass. */
    private interface Hooks {
        Hooks NONE = (_, _, _, _) -> {};
        Hooks OF_OPTIMIZER = (optimizer, tape, group, variables) ->
                optimizer.registerHooks(tape, List.of(group), group.variables(variables));

        void register(
                CudaGraphOptimizer optimizer, Tape tape, ParameterGroup group, SequencedMap<String, Var> variables);
    }

    /** Trains the head on a GPU in a CUDA graph; returns its parameters. */
    private static Map<String, double[]> trained(Optimizer optimizer, Hooks hooks) {
        Device gpu = Gpu.required();
        Libtorch libtorch = Libtorch.load();
        return libtorch.with(libtorch.math().withTf32(true), () -> {
            try (Scope _ = Scope.open();
                    CudaStream _ = CudaStream.open(gpu);
                    ParameterSet parameters = ParameterSet.initialize(
                            HEAD.parameters(CHANNELS), new SplittableRandom(2), DType.F32, gpu);
                    GpuStepState cells = new GpuStepState(gpu);
                    CudaGraphOptimizer graph = new CudaGraphOptimizer(optimizer, cells)) {
                Training training = new Training(parameters, cells);
                cells.begin(0);
                try (CapturedWork work = new CapturedWork(gpu, () -> training.step(graph, hooks))) {
                    for (int i = 0; i < STEPS; i++) {
                        graph.prepare(optimizer.options().learningRate(), i);
                        work.run();
                    }
                    assertThat(work.isRecorded()).isTrue();
                }
                assertThat(cells.read().steps()).isEqualTo(STEPS);
                Map<String, double[]> values = new LinkedHashMap<>();
                parameters
                        .all()
                        .forEach(each -> values.put(each.name(), each.value().toDoubles()));
                return values;
            }
        });
    }

    /** Steps on one batch, whose features have a gradient too. */
    private static final class Training {
        private final ParameterSet parameters;
        private final GpuStepState cells;
        private final Tensor features = Tensors.uniform(
                        new SplittableRandom(1), 0, 1, Shape.of(IMAGES, CHANNELS, 5, 5), DType.F32)
                .to(Gpu.required());
        private final long[] classes =
                LongStream.range(0, IMAGES).map(i -> i % CLASSES).toArray();
        private final Tensor labels = Tensors.ofLongs(classes, Shape.of(IMAGES)).to(Gpu.required());
        private final Tensor targets =
                Classification.oneHot(classes, CLASSES, DType.F32).to(Gpu.required());

        Training(ParameterSet parameters, GpuStepState cells) {
            this.parameters = parameters;
            this.cells = cells;
        }

        void step(CudaGraphOptimizer optimizer, Hooks hooks) {
            try (Scheduler scheduler = Acceleration.scheduler(Gpu.required());
                    Tape tape = Tape.recording(scheduler)) {
                SequencedMap<String, Var> variables = parameters.variables(tape);
                Bindings bound = Bindings.of(variables);
                Var scores = HEAD.classify(
                        POOLING.apply(tape.variable(features), bound.under(Head.POOLING)), bound, Head.Mode.TRAINING);
                Var loss = Classification.crossEntropy(scores, targets);
                cells.observe(scores.value(), labels, loss.value());
                ParameterGroup group = ParameterGroup.of(parameters);
                hooks.register(optimizer, tape, group, variables);
                try (Gradients gradients = tape.backward(loss)) {
                    optimizer.step(List.of(group), group.reached(variables, gradients));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("optimizers")
    void stepsDuringTheBackwardPassAreThoseAfterIt(OptimizerRule rule, double clip) {
        Gpu.required();
        try (Optimizer first = new Optimizer(rule, clip, 0);
                Optimizer second = new Optimizer(rule, clip, 0)) {
            Map<String, double[]> plain = trained(first, Hooks.NONE);
            Map<String, double[]> hooked = trained(second, Hooks.OF_OPTIMIZER);
            plain.forEach(
                    (name, values) -> assertThat(hooked.get(name)).as(name).isEqualTo(values));
        }
    }

    /** A step that leaves the manifold on the side stream is not taken, and the next one is. */
    @Test
    void aStepThatGoesWrongInAHookChangesNothing() {
        Device gpu = Gpu.required();
        Libtorch libtorch = Libtorch.load();
        boolean _ = libtorch.with(libtorch.math().withTf32(true), () -> {
            try (Scope _ = Scope.open();
                    CudaStream _ = CudaStream.open(gpu);
                    ParameterSet parameters = ParameterSet.initialize(
                            HEAD.parameters(CHANNELS), new SplittableRandom(2), DType.F32, gpu);
                    GpuStepState cells = new GpuStepState(gpu);
                    Optimizer optimizer = new Optimizer(SGD);
                    CudaGraphOptimizer graph = new CudaGraphOptimizer(optimizer, cells)) {
                Training training = new Training(parameters, cells);
                try (CapturedWork work = new CapturedWork(gpu, () -> training.step(graph, Hooks.OF_OPTIMIZER))) {
                    assertThat(step(work, graph, cells, 0.1)).isFalse();
                    assertThat(step(work, graph, cells, 0.1)).isFalse();
                    assertThat(work.isRecorded()).isTrue();
                    List<DoubleBuffer> before = values(parameters, optimizer);
                    assertThat(step(work, graph, cells, 1e5)).isTrue();
                    assertThat(values(parameters, optimizer)).isEqualTo(before);
                    assertThat(step(work, graph, cells, 0.1)).isFalse();
                    assertThat(values(parameters, optimizer)).isNotEqualTo(before);
                    Tensor w = parameters.get("pooling.spd0.weight").value();
                    assertThat(Stiefel.orthogonalityError(w.to(Device.CPU))) // without TF32
                            .isLessThan(1e-6);
                }
            }
            return true;
        });
    }

    /** Takes a step; returns whether it went wrong. */
    private static boolean step(CapturedWork work, CudaGraphOptimizer graph, GpuStepState cells, double rate) {
        cells.begin(0);
        graph.prepare(rate, 0);
        work.run();
        return cells.read().wrong();
    }

    /**
     * The layer is large enough for a check of its own; its gradient is the only one that is not finite. The check waits for the step
     * of a parameter on the manifold, whose hook runs only if it is used once.
     */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aLargeGradientThatIsNotFiniteIsFound(int uses) {
        Device gpu = Gpu.required();
        int side = 1024;
        Shape turned = Shape.of(64, 32);
        List<ParameterSpec> specs = List.of(
                new ParameterSpec("weight", Shape.of(side, side), Role.WEIGHT, Tensors::gaussian),
                new ParameterSpec("bias", Shape.of(side), Role.BIAS, Tensors::gaussian),
                new ParameterSpec("turned", turned, Role.STIEFEL, Stiefel::random));
        try (Scope _ = Scope.open();
                CudaStream _ = CudaStream.open(gpu);
                ParameterSet parameters = ParameterSet.initialize(specs, new SplittableRandom(2), DType.F32, gpu);
                GpuStepState cells = new GpuStepState(gpu);
                Optimizer optimizer = new Optimizer(SGD);
                CudaGraphOptimizer graph = new CudaGraphOptimizer(optimizer, cells)) {
            ParameterGroup group = ParameterGroup.of(parameters);
            Tensor rows = Tensors.full(1, Shape.of(2, side), DType.F32, gpu);
            Tensor small = Tensors.full(1, Shape.of(2, turned.at(1)), DType.F32, gpu);
            Tensor zero = Tensors.zeros(Shape.of(turned.at(0)), DType.F32, gpu);
            Tensor loss = Tensors.full(1, Shape.of(1), DType.F32, gpu);
            Tensor labels = Tensors.ofLongs(new long[] {0, 0}, Shape.of(2)).to(gpu);
            try (CapturedWork work = new CapturedWork(gpu, () -> {
                cells.observe(small, labels, loss);
                try (Tape tape = Tape.recording()) {
                    SequencedMap<String, Var> variables = parameters.variables(tape);
                    List<Var> means = new ArrayList<>();
                    for (int i = 0; i < uses; i++) {
                        Var w = Objects.requireNonNull(variables.get("turned"));
                        means.add(tape.variable(small)
                                .linear(w, tape.constant(zero))
                                .mean());
                    }
                    Var y = tape.variable(rows)
                            .linear(
                                    Objects.requireNonNull(variables.get("weight")),
                                    Objects.requireNonNull(variables.get("bias")));
                    Var sum = means.stream().reduce(y.mean(), Var::add);
                    Hooks.OF_OPTIMIZER.register(graph, tape, group, variables);
                    try (Gradients gradients = tape.backward(sum)) {
                        graph.step(List.of(group), group.reached(variables, gradients));
                    }
                }
            })) {
                assertThat(step(work, graph, cells, 0.1)).isFalse();
                assertThat(step(work, graph, cells, 0.1)).isFalse();
                assertThat(work.isRecorded()).isTrue();
                List<DoubleBuffer> before = values(parameters, optimizer);
                rows.fill(Double.NaN);
                assertThat(step(work, graph, cells, 0.1)).isTrue();
                assertThat(values(parameters, optimizer)).isEqualTo(before);
                rows.fill(2);
                assertThat(step(work, graph, cells, 0.1)).isFalse();
                assertThat(values(parameters, optimizer)).isNotEqualTo(before);
            }
        }
    }

    /** Its gradient is a sum, in which the first part comes from the side stream. */
    @Test
    void theHookOfAVariableThatIsUsedTwiceRunsOnce() {
        Device gpu = Gpu.required();
        List<double[]> sums = new ArrayList<>();
        List<String> calls = new ArrayList<>();
        try (Scope _ = Scope.open();
                CudaStream _ = CudaStream.open(gpu)) {
            SplittableRandom random = new SplittableRandom(1);
            Tensor x = Tensors.gaussian(random, Shape.of(3, 8), DType.F32).to(gpu);
            Tensor w = Tensors.gaussian(random, Shape.of(8, 8), DType.F32).to(gpu);
            Tensor b = Tensors.gaussian(random, Shape.of(8), DType.F32).to(gpu);
            Tensor result = Tensors.zeros(w.shape(), DType.F32, gpu);
            try (CapturedWork work = new CapturedWork(gpu, () -> {
                try (Scheduler scheduler = Acceleration.scheduler(gpu);
                        Tape tape = Tape.recording(scheduler)) {
                    Var weight = tape.variable(w);
                    Var bias = tape.variable(b);
                    tape.hook(weight, _ -> calls.add("weight")); // after both gradients are added
                    Var y = tape.variable(x).linear(weight, bias).linear(weight, bias);
                    try (Gradients gradients = tape.backward(y, x)) {
                        result.copyFrom(gradients.of(weight));
                    }
                }
            })) {
                for (int i = 0; i < 2; i++) {
                    work.run();
                    sums.add(result.toDoubles());
                    result.fill(0);
                }
                assertThat(work.isRecorded()).isTrue();
            }
        }
        assertThat(calls).hasSize(3); // eager step, trial capture, capture
        assertThat(sums.getLast()).isEqualTo(sums.getFirst());
    }
}
