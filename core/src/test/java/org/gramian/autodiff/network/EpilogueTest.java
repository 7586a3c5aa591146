package org.gramian.autodiff.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.FeatureMaps.Epilogue;
import org.gramian.autodiff.FeatureMaps.Filters;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Window;
import org.gramian.testing.Gpu;
import org.gramian.testing.RandomTest;
import org.gramian.testing.RelativeError;
import org.gramian.testing.Seed;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Convolution, norm, residual, activation and pooling in one node, against nodes of their own. */
class EpilogueTest {
    private static final BatchNorm NORM = new BatchNorm(1e-3, 0.1);
    private static final Window POOL = Window.of(3, 2).padded(1, 1);

    private final Scope scope = Scope.open(); // JUnit makes one object per run

    @AfterEach
    void close() {
        scope.close();
    }

    /** Maps, filters, scale, offset and residual of a 3×3 convolution of stride 1 that keeps the size. */
    private record Values(List<Tensor> inputs, BatchNorm.Statistics running, Convolution convolution) {
        static Values of(SplittableRandom random, int channels, int filters) {
            return new Values(
                    List.of(
                            gaussian(random, 2, channels, 5, 6),
                            gaussian(random, filters, channels, 3, 3),
                            gaussian(random, filters),
                            gaussian(random, filters),
                            gaussian(random, 2, filters, 5, 6)),
                    new BatchNorm.Statistics(
                            gaussian(random, filters), Tensors.uniform(random, 0.1, 2, Shape.of(filters), DType.F64)),
                    new Convolution(1, 1, 1));
        }

        private static Tensor gaussian(SplittableRandom random, long... sizes) {
            return Tensors.gaussian(random, Shape.of(sizes), DType.F64);
        }

        Values to(DType type, Device device) {
            return new Values(
                    inputs.stream().map(each -> each.to(type).to(device)).toList(),
                    new BatchNorm.Statistics(
                            running.mean().to(type).to(device),
                            running.variance().to(type).to(device)),
                    convolution);
        }

        private Epilogue epilogue(List<Var> in, Activation activation, boolean residual, @Nullable Window pool) {
            return new Epilogue(residual ? in.get(4) : null, activation, pool);
        }

        Function<List<Var>, Var> joint(Activation activation, boolean residual, @Nullable Window pool) {
            return in -> FeatureMaps.convolve(
                    in.get(0),
                    NORM.filters(in.get(1), in.get(2), in.get(3), running),
                    convolution,
                    epilogue(in, activation, residual, pool));
        }

        Function<List<Var>, Var> separate(Activation activation, boolean residual, @Nullable Window pool) {
            return in -> epilogue(in, activation, residual, pool)
                    .separately(NORM.predict(
                            FeatureMaps.convolve(in.get(0), new Filters(in.get(1), null), convolution, Activation.NONE),
                            in.get(2),
                            in.get(3),
                            running));
        }
    }

    /** Returns the value and the gradients of the wanted inputs, in their order. */
    private static List<Tensor> run(Function<List<Var>, Var> function, List<Tensor> inputs, boolean... wanted) {
        try (Tape tape = Tape.recording()) {
            List<Var> variables = new ArrayList<>();
            for (int i = 0; i < inputs.size(); i++) {
                variables.add(wanted[i] ? tape.variable(inputs.get(i)) : tape.constant(inputs.get(i)));
            }
            Var y = function.apply(variables);
            Tensor upstream = Tensors.gaussian(new SplittableRandom(7), y.shape(), DType.F64);
            Tensor g = upstream.to(y.value().type()).to(y.value().device());
            List<Tensor> found = new ArrayList<>(List.of(y.value().copy()));
            try (Gradients gradients = tape.backward(y, g)) {
                variables.stream()
                        .filter(gradients::has)
                        .forEach(variable -> found.add(gradients.of(variable).copy()));
            }
            return found;
        }
    }

    @RandomTest(times = 24)
    void oneNodeComputesWhatItsPartsCompute(Seed seed) {
        SplittableRandom random = seed.random();
        Values values = Values.of(random, 2, 3);
        Activation activation = Activation.values()[random.nextInt(Activation.values().length)];
        boolean residual = random.nextBoolean();
        Window pool = random.nextBoolean() ? POOL : null;
        boolean[] wanted = new boolean[5];
        for (int i = 0; i < 5; i++) {
            wanted[i] = random.nextInt(3) > 0;
        }
        wanted[random.nextInt(4)] = true; // the residual may not be used
        List<Tensor> expected = run(values.separate(activation, residual, pool), values.inputs, wanted);
        List<Tensor> found = run(values.joint(activation, residual, pool), values.inputs, wanted);
        assertThat(found).hasSameSizeAs(expected);
        for (int i = 0; i < found.size(); i++) {
            assertTensor(found.get(i))
                    .as("%s, residual %s, pool %s, %d", activation, residual, pool, i)
                    .isCloseTo(expected.get(i), 1e-12);
        }
    }

    @RandomTest(times = 3)
    void itsGradientsAreCentralDifferences(Seed seed) {
        Values values = Values.of(seed.random(), 2, 3);
        for (Activation activation : List.of(Activation.NONE, Activation.SIGMOID, Activation.SILU)) {
            GradientCheck check = GradientCheck.of(values.joint(activation, true, null));
            assertThat(check.check(values.inputs.toArray(Tensor[]::new)).worst())
                    .isLessThan(1e-6);
        }
    }

    /** Up to three gradients reach the node, two of which it adds itself. */
    @RandomTest(times = 3)
    void gradientsOfAValueThatIsUsedSeveralTimesAreAdded(Seed seed) {
        Values values = Values.of(seed.random(), 2, 3);
        for (boolean thrice : new boolean[] {false, true}) {
            GradientCheck check = GradientCheck.of(in -> {
                Var y = values.joint(Activation.SIGMOID, true, null).apply(in);
                Var twice = FeatureMaps.add(y.mul(y), y, Activation.NONE);
                return thrice ? FeatureMaps.add(twice, y, Activation.SIGMOID) : twice;
            });
            assertThat(check.check(values.inputs.toArray(Tensor[]::new)).worst())
                    .isLessThan(1e-6);
        }
    }

    /** Relative to the largest value: bfloat16 rounds maps, filters and gradients to 8 bits. */
    @RandomTest(times = 12)
    void theKernelsOfAGpuComputeTheSame(Seed seed) {
        Device gpu = Gpu.required();
        SplittableRandom random = seed.random();
        Values values = Values.of(random, 8, 16).to(DType.F32, Device.CPU);
        Activation activation =
                List.of(Activation.NONE, Activation.RELU, Activation.RELU6).get(random.nextInt(3));
        boolean residual = random.nextBoolean();
        Window pool = random.nextBoolean() ? POOL : null;
        boolean[] all = {true, true, true, true, residual};
        Values there = values.to(DType.F32, gpu);
        List<Tensor> mixed = new ArrayList<>(there.inputs);
        mixed.set(0, mixed.get(0).to(DType.BF16));
        mixed.set(4, mixed.get(4).to(DType.BF16));
        List<Tensor> expected = run(there.separate(activation, residual, pool), there.inputs, all);
        List<Tensor> found = run(there.joint(activation, residual, pool), mixed, all);
        List<Tensor> again = run(there.joint(activation, residual, pool), mixed, all);
        for (int i = 0; i < found.size(); i++) {
            String what = "%s, residual %s, pool %s, %d".formatted(activation, residual, pool, i);
            // of the whole tensor: near a kink rounding moves single elements of a gradient from 0 to all of it
            assertThat(RelativeError.ofNorm(found.get(i), expected.get(i)))
                    .as(what)
                    .isLessThan(0.1);
            if (i >= 3) { // cuDNN's gradients of maps and filters need not be deterministic
                continue;
            }
            assertThat(RelativeError.ofNorm(again.get(i), found.get(i)))
                    .as("again: " + what)
                    .isLessThan(1e-2);
        }
    }

    @Test
    void aResidualOfAnotherShapeIsRefused() {
        Values values = Values.of(new SplittableRandom(1), 2, 3);
        List<Tensor> inputs = new ArrayList<>(values.inputs);
        inputs.set(4, Tensors.zeros(Shape.of(2, 3, 1, 6), DType.F64, Device.CPU));
        assertThatThrownBy(() -> run(values.joint(Activation.RELU, true, null), inputs, true, true, true, true, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("residual", "[2, 3, 5, 6]", "F64[2, 3, 1, 6]");
    }

    @Test
    void filtersHaveABiasOrANorm() {
        try (Tape tape = Tape.inference()) {
            Var one = tape.constant(Tensors.zeros(Shape.of(1), DType.F64, Device.CPU));
            Var weight = tape.constant(Tensors.zeros(Shape.of(1, 1, 1, 1), DType.F64, Device.CPU));
            FeatureMaps.Norm norm = new FeatureMaps.Norm(one, one, one.value(), one.value(), 1e-5);
            assertThatThrownBy(() -> new Filters(weight, one, norm))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("both");
        }
    }
}
