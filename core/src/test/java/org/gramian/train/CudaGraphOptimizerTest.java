package org.gramian.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.DoubleBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.autodiff.Parameter;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.spd.layer.Retraction;
import org.gramian.spd.layer.Stiefel;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.gramian.train.Optimizer.ParameterGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Steps without host synchronization against those of {@link Optimizer}. */
class CudaGraphOptimizerTest {
    private static final Sgd SGD =
            new Sgd(0.1, 0.9, 0.01, new StiefelOptions(0.5, Stiefel.Metric.CANONICAL, Retraction.QR));
    private static final AdamW ADAMW =
            new AdamW(0.01, 0.9, 0.99, 0.1, new StiefelOptions(5, Stiefel.Metric.CANONICAL, Retraction.QR));

    private static final Sgd CONSTANT =
            new Sgd(0.1, 0.9, 0.01, new StiefelOptions(1, Stiefel.Metric.CANONICAL, Retraction.QR, Optional.of(0.02)));

    private static final Shape TURNED = Shape.of(136, 72);

    /** More parameters than one launch takes, small and large ones, of sizes that are no multiples of anything. */
    private static final List<ParameterSpec> SPECS = specs();

    private static List<ParameterSpec> specs() {
        List<ParameterSpec> specs = new ArrayList<>(List.of(
                new ParameterSpec("weight", Shape.of(5, 7), Role.WEIGHT, Tensors::gaussian),
                new ParameterSpec("bias", Shape.of(7), Role.BIAS, Tensors::gaussian),
                new ParameterSpec("large", Shape.of(301, 103), Role.WEIGHT, Tensors::gaussian),
                new ParameterSpec("turned", Shape.of(40, 12), Role.STIEFEL, Stiefel::random)));
        for (int i = 0; i < 140; i++) {
            specs.add(new ParameterSpec("small" + i, Shape.of(1 + i % 5, 3), Role.WEIGHT, Tensors::gaussian));
        }
        return List.copyOf(specs);
    }

    static Stream<Arguments> optimizers() {
        return Stream.of(SGD, CONSTANT, ADAMW)
                .flatMap(rule -> Stream.of(0.0, 0.5)
                        .flatMap(clip -> Stream.of(0.0, 0.9).map(ema -> Arguments.of(rule, clip, ema))));
    }

    private static ParameterSet parameters(Device device) {
        return ParameterSet.initialize(SPECS, new SplittableRandom(3), DType.F32, device);
    }

    private static Map<Parameter, Tensor> gradients(ParameterSet parameters, SplittableRandom random, double scale) {
        return Map.copyOf(parameters.all().stream()
                .collect(Collectors.toMap(
                        parameter -> parameter,
                        parameter -> Tensors.gaussian(
                                        random.split(), parameter.spec().shape(), DType.F32)
                                .mul(scale)
                                .to(parameter.value().device()))));
    }

    /** A batch of one crop whose score is right. */
    private static void observe(GpuStepState cells, double loss) {
        Device gpu = Gpu.required();
        cells.observe(
                Tensors.of(new double[] {0, 1}, Shape.of(1, 2), DType.F32).to(gpu),
                Tensors.ofLongs(new long[] {1}, Shape.of(1)).to(gpu),
                Tensors.full(loss, Shape.of(1), DType.F32, gpu));
    }

    @ParameterizedTest
    @MethodSource("optimizers")
    void thirtyStepsEqualThoseOfTheHost(OptimizerRule rule, double clip, double ema) {
        Device gpu = Gpu.required();
        try (Scope _ = Scope.open();
                ParameterSet plain = parameters(Device.CPU);
                ParameterSet fast = parameters(gpu);
                Optimizer host = new Optimizer(rule, clip, ema);
                Optimizer device = new Optimizer(rule, clip, ema);
                GpuStepState cells = new GpuStepState(gpu)) {
            CudaGraphOptimizer graph = new CudaGraphOptimizer(device, cells);
            List<ParameterGroup> groups = List.of(new ParameterGroup(fast, 0.7, 1.5));
            assertThat(CudaGraphOptimizer.isSupported(groups, rule)).isTrue();
            cells.begin(0);
            for (int step = 0; step < 30; step++) {
                double rate = rule.learningRate() / (1 + step);
                host.setLearningRate(rate);
                host.step(
                        List.of(new ParameterGroup(plain, 0.7, 1.5)),
                        gradients(plain, new SplittableRandom(step), 0.3));
                graph.prepare(rate, step);
                observe(cells, 2);
                graph.step(groups, gradients(fast, new SplittableRandom(step), 0.3));
            }
            assertThat(cells.read()).isEqualTo(new GpuStepState.Outcome(30, 60, 30, false, 2));
            graph.taken(30);
            assertThat(device.steps()).isEqualTo(host.steps());
            for (ParameterSpec spec : SPECS) {
                assertThat(fast.get(spec.name()).value().toDoubles())
                        .as(spec.name())
                        .containsExactly(plain.get(spec.name()).value().toDoubles(), within(5e-5));
                assertThat(device.state(fast.get(spec.name())).keySet())
                        .isEqualTo(host.state(plain.get(spec.name())).keySet());
                host.state(plain.get(spec.name()))
                        .forEach((name, state) -> assertThat(
                                        Objects.requireNonNull(device.state(fast.get(spec.name()), name))
                                                .toDoubles())
                                .as("%s of %s", name, spec.name())
                                .containsExactly(state.toDoubles(), within(5e-4)));
            }
            assertThat(Stiefel.orthogonalityError(fast.get("turned").value())).isLessThan(1e-6);
        }
    }

    static Stream<Arguments> steps() {
        return Stream.of(0.01, 0.1, 0.35)
                .flatMap(scale -> Stream.of(false, true).map(same -> Arguments.of(scale, same)));
    }

    /**
     * Gradients for which two rounds of the retraction are enough, and for which a third is needed.
     *
     * @param same whether all columns of the gradient are the same, which leaves the largest error for its size
     */
    @ParameterizedTest
    @MethodSource("steps")
    void retractionIsTheQFactorForSmallAndLargeSteps(double scale, boolean same) {
        Sgd rule = new Sgd(0.1, 0, 0, new StiefelOptions(0.5, Stiefel.Metric.CANONICAL, Retraction.QR));
        requireStepsOfTheHost(
                rule,
                1,
                false,
                _ -> {
                    Tensor all = Tensors.gaussian(new SplittableRandom(1), TURNED, DType.F32);
                    Tensor one = all.slice(1, 0, 1).expand(TURNED.sizes()).contiguous();
                    return (same ? one : all).mul(same ? scale / 3 : scale);
                },
                2e-6,
                2e-6);
    }

    static Stream<Arguments> metrics() {
        return Stream.of(Stiefel.Metric.values()).map(Arguments::of);
    }

    /** Products of small matrices are TF32, but the columns are orthonormal to the rounding of float32. */
    @ParameterizedTest
    @MethodSource("metrics")
    void withTf32StepsStayOnTheManifold(Stiefel.Metric metric) {
        Sgd rule = new Sgd(0.1, 0.9, 0, new StiefelOptions(0.5, metric, Retraction.QR));
        requireStepsOfTheHost(
                rule,
                10,
                true,
                step -> Tensors.gaussian(new SplittableRandom(step).split(), TURNED, DType.F32)
                        .mul(0.03),
                1e-3,
                1e-6);
    }

    /**
     * Takes steps of one orthonormal matrix on the host and on the GPU, and compares the matrices.
     *
     * @param gradients gradient of each step
     * @param tolerance largest difference of elements
     * @param orthogonality largest error of the columns' products
     */
    private static void requireStepsOfTheHost(
            Sgd rule, int steps, boolean tf32, IntFunction<Tensor> gradients, double tolerance, double orthogonality) {
        Device gpu = Gpu.required();
        Libtorch libtorch = Libtorch.load();
        List<ParameterSpec> specs = List.of(new ParameterSpec("turned", TURNED, Role.STIEFEL, Stiefel::random));
        try (Scope _ = Scope.open();
                ParameterSet plain = ParameterSet.initialize(specs, new SplittableRandom(3), DType.F32, Device.CPU);
                ParameterSet fast = ParameterSet.initialize(specs, new SplittableRandom(3), DType.F32, gpu);
                Optimizer host = new Optimizer(rule);
                Optimizer device = new Optimizer(rule);
                GpuStepState cells = new GpuStepState(gpu)) {
            CudaGraphOptimizer graph = new CudaGraphOptimizer(device, cells);
            cells.begin(0);
            for (int step = 0; step < steps; step++) {
                Tensor gradient = gradients.apply(step);
                host.setLearningRate(rule.learningRate());
                host.step(List.of(ParameterGroup.of(plain)), Map.of(plain.get("turned"), gradient));
                graph.prepare(rule.learningRate(), step);
                observe(cells, 2);
                boolean _ = libtorch.with(libtorch.math().withTf32(tf32), () -> {
                    graph.step(List.of(ParameterGroup.of(fast)), Map.of(fast.get("turned"), gradient.to(gpu)));
                    return true;
                });
            }
            assertThat(cells.read().wrong()).isFalse();
            assertThat(fast.get("turned").value().toDoubles())
                    .containsExactly(plain.get("turned").value().toDoubles(), within(tolerance));
            assertThat(Stiefel.orthogonalityError(fast.get("turned").value())).isLessThan(orthogonality);
        }
    }

    @ParameterizedTest
    @MethodSource("optimizers")
    void afterANonFiniteStepNothingMovesUntilTheHostHandlesIt(OptimizerRule rule, double clip, double ema) {
        requireWrong(new Optimizer(rule, clip, ema), 1, Double.NaN);
        requireWrong(new Optimizer(rule, clip, ema), Double.POSITIVE_INFINITY, 1);
    }

    /** A turn by so much that corrections do not end on the manifold is left to the host. */
    @Test
    void tooLargeStiefelStepIsNotTaken() {
        requireWrong(new Optimizer(SGD), 1, 1e3);
    }

    private static void requireWrong(Optimizer optimizer, double loss, double scale) {
        Device gpu = Gpu.required();
        try (Scope _ = Scope.open();
                ParameterSet parameters = parameters(gpu);
                optimizer;
                GpuStepState cells = new GpuStepState(gpu)) {
            CudaGraphOptimizer graph = new CudaGraphOptimizer(optimizer, cells);
            List<ParameterGroup> groups = List.of(ParameterGroup.of(parameters));
            double rate = optimizer.options().learningRate();
            cells.begin(0);
            graph.prepare(rate, 0);
            observe(cells, 1);
            graph.step(groups, gradients(parameters, new SplittableRandom(1), 0.1));
            List<DoubleBuffer> before = values(parameters, optimizer);
            graph.prepare(rate, 1);
            observe(cells, loss);
            graph.step(groups, gradients(parameters, new SplittableRandom(2), scale));
            graph.prepare(rate, 2);
            observe(cells, 1);
            graph.step(groups, gradients(parameters, new SplittableRandom(3), 0.1));
            assertThat(cells.read().wrong()).isTrue();
            assertThat(cells.read().steps()).isEqualTo(1);
            assertThat(values(parameters, optimizer)).isEqualTo(before);
            graph.taken(1);
            cells.begin(1);
            graph.prepare(rate, 0);
            observe(cells, 1);
            graph.step(groups, gradients(parameters, new SplittableRandom(3), 0.1));
            assertThat(cells.read().steps()).isEqualTo(1);
        }
    }

    /** Returns all values in buffers, which are compared by content. */
    static List<DoubleBuffer> values(ParameterSet parameters, Optimizer optimizer) {
        return parameters.all().stream()
                .flatMap(parameter ->
                        Stream.concat(Stream.of(parameter.value()), optimizer.state(parameter).values().stream()))
                .map(tensor -> DoubleBuffer.wrap(tensor.toDoubles()))
                .toList();
    }

    /** A prediction is correct if its class has the largest score, and is the first of those that do. */
    @Test
    void correctPredictionsAreCounted() {
        Device gpu = Gpu.required();
        int rows = 70;
        int classes = 45;
        SplittableRandom random = new SplittableRandom(3);
        double[] scores = random.ints((long) rows * classes, 0, 12)
                .mapToDouble(score -> score)
                .toArray(); // ties are frequent
        long[] labels = new long[rows];
        int correct = 0;
        for (int row = 0; row < rows; row++) {
            int top = row * classes;
            for (int i = top; i < (row + 1) * classes; i++) {
                top = scores[i] > scores[top] ? i : top;
            }
            labels[row] = random.nextBoolean() ? top - row * classes : random.nextInt(classes);
            correct += labels[row] == top - row * classes ? 1 : 0;
        }
        try (Scope _ = Scope.open();
                Optimizer optimizer = new Optimizer(SGD);
                GpuStepState cells = new GpuStepState(gpu);
                CudaGraphOptimizer graph = new CudaGraphOptimizer(optimizer, cells)) {
            cells.begin(0);
            graph.prepare(0.1, 0);
            cells.observe(
                    Tensors.of(scores, Shape.of(rows, classes), DType.F32).to(gpu),
                    Tensors.ofLongs(labels, Shape.of(rows)).to(gpu),
                    Tensors.full(2, Shape.of(1), DType.F32, gpu));
            graph.step(List.of(), Map.of());
            assertThat(cells.read()).isEqualTo(new GpuStepState.Outcome(1, 2.0 * rows, correct, false, 2.0 * rows));
        }
    }
}
