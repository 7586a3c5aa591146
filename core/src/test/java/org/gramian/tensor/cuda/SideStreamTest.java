package org.gramian.tensor.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.FeatureMaps;
import org.gramian.autodiff.FeatureMaps.Epilogue;
import org.gramian.autodiff.FeatureMaps.Filters;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.autodiff.network.BatchNorm;
import org.gramian.autodiff.network.Tokens;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Gelu;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.CudaGraph;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchException;
import org.gramian.testing.Gpu;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SideStreamTest {
    private static final BatchNorm NORM = new BatchNorm(1e-3, 0.1);
    private static final int REPLAYS = 50;

    /** Width of maps and of tokens. */
    private static final int WIDTH = 32;

    @Test
    void thereIsNoneOnTheCpuAndOnTheDefaultStream() {
        assertThat(SideStream.open(Device.CPU)).isNull();
        Device gpu = Gpu.required();
        assertThat(SideStream.open(gpu)).isNull();
        assertThat(SideStream.openInCapture(gpu)).isSameAs(Scheduler.SEQUENTIAL);
        try (CudaStream _ = CudaStream.open(gpu);
                SideStream first = SideStream.open(gpu);
                SideStream second = SideStream.open(gpu)) {
            assertThat(first).isNotNull();
            assertThat(second).as("the one stream is in use").isNull();
            assertThat(SideStream.openInCapture(gpu)).as("nothing is captured").isSameAs(Scheduler.SEQUENTIAL);
        }
    }

    /** Some milliseconds of work on the current stream. */
    private static void delay(Tensor matrix) {
        try (Scope _ = Scope.open()) {
            for (int i = 0; i < 5; i++) {
                matrix.matmul(matrix);
            }
        }
    }

    /** The section reads late what was freed at once; without a reference its memory would be overwritten before. */
    @Test
    void whatASectionReadsIsNotOverwritten() {
        Device gpu = Gpu.required();
        Shape shape = Shape.of(1 << 20);
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor matrix = Tensors.zeros(Shape.of(4096, 4096), DType.F32, gpu);
            Tensor kept = Tensors.zeros(shape, DType.F32, gpu);
            repeated(gpu, () -> {
                try (SideStream side = Objects.requireNonNull(SideStream.open(gpu));
                        Scope _ = Scope.open()) {
                    List<Tensor> sums = new ArrayList<>();
                    for (int i = 0; i < 20; i++) { // more than are held at a time
                        Tensor x = Tensors.full(i, shape, DType.F32, gpu);
                        sums.addAll(nonNull(side.run(List.of(x), () -> {
                            delay(matrix);
                            return list(x.add(1));
                        })));
                        x.close();
                        Tensors.full(Double.NaN, shape, DType.F32, gpu);
                    }
                    side.join();
                    Tensor total = sums.getFirst();
                    for (Tensor each : sums.subList(1, sums.size())) {
                        total = total.add(each);
                    }
                    kept.copyFrom(total);
                }
            });
            assertThat(kept.toFloats()).containsOnly(210f);
        }
    }

    /** The current stream reads late a freed result, whose memory the next section writes. */
    @Test
    void aFreedResultIsReadBeforeItsMemoryIsUsedAgain() {
        Device gpu = Gpu.required();
        Shape shape = Shape.of(1 << 20);
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor matrix = Tensors.zeros(Shape.of(4096, 4096), DType.F32, gpu);
            Tensor kept = Tensors.zeros(shape, DType.F32, gpu);
            repeated(gpu, () -> {
                try (SideStream side = Objects.requireNonNull(SideStream.open(gpu));
                        Scope _ = Scope.open()) {
                    Tensor x = Tensors.full(2, shape, DType.F32, gpu);
                    Tensor result =
                            nonNull(side.run(List.of(x), () -> list(x.add(1)))).getFirst();
                    side.join();
                    delay(matrix);
                    kept.copyFrom(result);
                    result.close();
                    side.run(List.of(), () -> list(Tensors.full(Double.NaN, shape, DType.F32, gpu)));
                }
            });
            assertThat(kept.toFloats()).containsOnly(3f);
        }
    }

    @Test
    void aFailedSectionIsJoinedAndFreesWhatItHeld() {
        Device gpu = Gpu.required();
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor x = Tensors.full(2, Shape.of(4), DType.F32, gpu);
            long live = Tensor.live();
            assertThatThrownBy(() -> {
                        try (SideStream side = Objects.requireNonNull(SideStream.open(gpu))) {
                            side.run(List.of(x), () -> {
                                x.add(1);
                                throw new IllegalStateException("wrong");
                            });
                        }
                    })
                    .hasMessage("wrong");
            assertThat(Tensor.live()).isEqualTo(live);
            assertThat(x.add(1).toFloats()).containsOnly(3f);
            try (SideStream again = SideStream.open(gpu)) {
                assertThat(again).isNotNull();
            }
        }
    }

    private static List<Tensor> nonNull(List<@Nullable Tensor> tensors) {
        return tensors.stream().map(Objects::requireNonNull).toList();
    }

    /** Runs work eagerly and as a CUDA graph, each once. */
    private static void repeated(Device gpu, Runnable work) {
        try (CapturedWork captured = new CapturedWork(gpu, work)) {
            captured.run();
            captured.run();
            assertThat(captured.isRecorded()).isTrue();
        }
    }

    /** A network of parameters that are drawn in the order in which it asks for them. */
    private abstract static class Network {
        final DType type;

        Network(DType type) {
            this.type = type;
        }

        abstract Shape input();

        abstract Var apply(Var x, Parameters parameters);

        @Override
        public String toString() {
            return getClass().getSimpleName() + " in " + type;
        }
    }

    /** Values on a GPU, and their variables of one step. */
    private static final class Parameters {
        private final SplittableRandom random = new SplittableRandom(3);
        private final Device gpu;
        private final List<Tensor> values = new ArrayList<>();
        private final List<Var> variables = new ArrayList<>();

        Parameters(Device gpu) {
            this.gpu = gpu;
        }

        /** Returns the next value, drawn in the first step. */
        Tensor value(double low, double high, long... sizes) {
            int place = variables.size();
            if (place == values.size()) {
                Tensor drawn = Tensors.uniform(random, low, high, Shape.of(sizes), DType.F32);
                Tensor there = drawn.to(gpu);
                Scope.detach(there);
                values.add(there);
            }
            return values.get(place);
        }

        Var next(Tape tape, double bound, long... sizes) {
            Var variable = tape.variable(value(-bound, bound, sizes));
            variables.add(variable);
            return variable;
        }
    }

    /** Convolutions with norms, residuals and biases; two of them share their filters. */
    private static final class ResidualNetwork extends Network {
        ResidualNetwork(DType type) {
            super(type);
        }

        @Override
        Shape input() {
            return Shape.of(8, 16, 14, 14);
        }

        @Override
        Var apply(Var images, Parameters parameters) {
            Tape tape = images.tape();
            Convolution pointwise = Convolution.plain();
            Convolution square = new Convolution(1, 1, 1);
            Convolution depthwise = new Convolution(1, 1, WIDTH);
            Var x = FeatureMaps.convolve(
                    images, filters(tape, parameters, WIDTH, 16, 3), square, Epilogue.of(Activation.RELU));
            Filters shared = filters(tape, parameters, WIDTH, WIDTH, 3);
            for (int i = 0; i < 6; i++) {
                Var y = FeatureMaps.convolve(
                        x, filters(tape, parameters, 2 * WIDTH, WIDTH, 1), pointwise, Activation.RELU6);
                y = FeatureMaps.convolve(y, filters(tape, parameters, WIDTH, 2 * WIDTH, 1), pointwise, Activation.NONE);
                y = FeatureMaps.convolve(y, filters(tape, parameters, WIDTH, 1, 3), depthwise, Activation.RELU6);
                y = pressure(y);
                Filters last = i % 3 == 1 ? shared : filters(tape, parameters, WIDTH, WIDTH, 3);
                x = FeatureMaps.convolve(y, last, square, new Epilogue(x, Activation.RELU, null));
            }
            Var weight = parameters.next(tape, 0.1, WIDTH, WIDTH, 1, 1);
            Var bias = parameters.next(tape, 0.1, WIDTH);
            return FeatureMaps.convolve(x, new Filters(weight, bias), pointwise, Activation.NONE);
        }

        private static Filters filters(Tape tape, Parameters parameters, int filters, int channels, int side) {
            double bound = Math.sqrt(3.0 / (channels * side * side));
            Var weight = parameters.next(tape, bound, filters, channels, side, side);
            Var gamma = parameters.next(tape, 1, filters);
            Var beta = parameters.next(tape, 1, filters);
            Var mean = parameters.next(tape, 0.1, filters);
            Tensor variance = parameters.value(0.5, 1.5, filters);
            parameters.variables.add(tape.constant(variance));
            return NORM.filters(weight, gamma, beta, new BatchNorm.Statistics(mean.value(), variance));
        }
    }

    /** Blocks of attention and linear layers, of which the second shares the linear layers of the first. */
    private static final class Transformer extends Network {
        Transformer(DType type) {
            super(type);
        }

        @Override
        Shape input() {
            return Shape.of(8, 50, WIDTH);
        }

        @Override
        Var apply(Var tokens, Parameters parameters) {
            Tape tape = tokens.tape();
            Var x = linear(tokens, tape, parameters, WIDTH);
            Var[] first = {
                parameters.next(tape, 0.2, 4 * WIDTH, WIDTH),
                parameters.next(tape, 0.2, 4 * WIDTH),
                parameters.next(tape, 0.1, WIDTH, 4 * WIDTH),
                parameters.next(tape, 0.1, WIDTH)
            };
            for (int i = 0; i < 4; i++) {
                Var normal =
                        Tokens.layerNorm(x, parameters.next(tape, 1, WIDTH), parameters.next(tape, 1, WIDTH), 1e-6);
                Var attended = Tokens.selfAttention(
                        normal, parameters.next(tape, 0.2, 3 * WIDTH, WIDTH), parameters.next(tape, 0.2, 3 * WIDTH), 4);
                Tokens.NormalizedSum both = Tokens.addAndNorm(
                        x, pressure(attended), parameters.next(tape, 1, WIDTH), parameters.next(tape, 1, WIDTH), 1e-6);
                Var wide;
                Var narrow;
                if (i < 2) {
                    wide = Tokens.linearGelu(both.normalized(), first[0], first[1], Gelu.ERF);
                    narrow = Tokens.linear(wide, first[2], first[3]);
                } else {
                    wide = linear(both.normalized(), tape, parameters, 4 * WIDTH);
                    narrow = linear(Tokens.gelu(wide, Gelu.ERF), tape, parameters, WIDTH);
                }
                x = both.sum().add(narrow);
            }
            return x;
        }

        private static Var linear(Var x, Tape tape, Parameters parameters, int width) {
            Var weight = parameters.next(tape, 0.2, width, x.shape().at(-1));
            return Tokens.linear(x, weight, parameters.next(tape, 0.2, width));
        }
    }

    /** The identity; its adjoint overwrites memory that was freed before, of the size of x and smaller. */
    private static Var pressure(Var x) {
        return x.tape()
                .apply(
                        List.of(x),
                        () -> Result.of(x.value().copy(), (g, wanted) -> {
                            for (int i = 0; i < 20; i++) {
                                Tensors.full(Double.NaN, x.shape(), g.type(), g.device());
                                Tensors.full(Double.NaN, Shape.of(1 + 97L * i), DType.F32, g.device())
                                        .close();
                            }
                            return list(g.copy());
                        }));
    }

    /** The gradients of a step, in the current scope. */
    private static List<Tensor> step(Network network, Tensor input, Parameters parameters) {
        try (Scheduler scheduler = SideStream.openInCapture(input.device());
                Tape tape = Tape.recording(scheduler)) {
            parameters.variables.clear();
            Var y = network.apply(tape.constant(input), parameters);
            try (Scope scope = Scope.open();
                    Gradients gradients = tape.backward(
                            y,
                            y.value()
                                    .mul(Tensors.full(0.01, y.shape(), y.value().type(), input.device())))) {
                return parameters.variables.stream()
                        .filter(gradients::has)
                        .map(variable -> scope.keep(gradients.of(variable).copy()))
                        .toList();
            }
        }
    }

    static Stream<Network> networks() {
        return Stream.of(DType.BF16, DType.F32)
                .flatMap(type -> Stream.of(new ResidualNetwork(type), new Transformer(type)));
    }

    private static List<byte[]> bytes(List<Tensor> tensors) {
        return tensors.stream().map(Tensor::toBytes).toList();
    }

    private static void requireEqual(List<Tensor> found, List<byte[]> expected, String when) {
        assertThat(found).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(found.get(i).toBytes())
                    .as("gradient %d, %s, %s", i, found.get(i), when)
                    .isEqualTo(expected.get(i));
        }
    }

    /** The gradients of a step that is not captured, and therefore runs on one stream. */
    private static List<byte[]> onOneStream(Network network, Tensor input, Parameters parameters) {
        long before = SideStream.sections();
        try (Scope _ = Scope.open()) {
            List<byte[]> expected = bytes(step(network, input, parameters));
            assertThat(SideStream.sections()).isEqualTo(before);
            return expected;
        }
    }

    @ParameterizedTest
    @MethodSource("networks")
    void gradientsAreThoseOfOneStream(Network network) {
        Device gpu = Gpu.required();
        Tensor host = Tensors.gaussian(new SplittableRandom(7), network.input(), DType.F32);
        Libtorch.load().with(GpuMath.EXACT, () -> {
            try (CudaStream _ = CudaStream.open(gpu);
                    Scope _ = Scope.open()) {
                Tensor input = host.to(gpu).to(network.type);
                Parameters parameters = new Parameters(gpu);
                List<byte[]> expected = onOneStream(network, input, parameters);
                assertThat(step(network, input, parameters).stream().mapToDouble(SideStreamTest::sumOfSquares))
                        .allMatch(sum -> Double.isFinite(sum) && sum > 0);
                long live = Tensor.live();
                List<Tensor> kept = new ArrayList<>();
                try (Scope _ = Scope.open()) {
                    for (Tensor gradient : step(network, input, parameters)) {
                        Tensor place = Tensors.zeros(gradient.shape(), gradient.type(), gpu);
                        Scope.detach(place);
                        kept.add(place);
                    }
                }
                Runnable work = () -> {
                    try (Scope _ = Scope.open()) {
                        List<Tensor> found = step(network, input, parameters);
                        for (int i = 0; i < found.size(); i++) {
                            kept.get(i).copyFrom(found.get(i));
                        }
                    }
                };
                for (int i = 0; i < 10; i++) {
                    work.run();
                    requireEqual(kept, expected, "eager " + i);
                }
                long before = SideStream.sections();
                try (CapturedWork captured = new CapturedWork(gpu, work)) {
                    for (int i = 0; i < REPLAYS; i++) {
                        kept.forEach(each -> each.fill(0));
                        captured.run();
                        requireEqual(kept, expected, "run " + i);
                    }
                    assertThat(captured.isRecorded()).isTrue();
                    assertThat(SideStream.sections()).isGreaterThan(before + 5);
                }
                kept.forEach(Tensor::close);
                assertThat(Tensor.live()).isEqualTo(live);
                parameters.values.forEach(Tensor::close);
            }
            return 0;
        });
    }

    private static double sumOfSquares(Tensor tensor) {
        double sum = 0;
        for (double each : tensor.toDoubles()) {
            sum += each * each;
        }
        return sum;
    }

    /** A network below a node whose adjoint fails. */
    private static Var failing(Var x, boolean[] fails) {
        return x.tape()
                .apply(
                        List.of(x),
                        () -> Result.of(x.value().copy(), (g, wanted) -> {
                            if (fails[0]) {
                                throw new LibtorchException("wrong");
                            }
                            return list(g.copy());
                        }));
    }

    private static final class FailingNetwork extends Network {
        private final boolean[] fails = {false};

        FailingNetwork() {
            super(DType.BF16);
        }

        @Override
        Shape input() {
            return Shape.of(2, 10, WIDTH);
        }

        @Override
        Var apply(Var tokens, Parameters parameters) {
            Tape tape = tokens.tape();
            Var below = Transformer.linear(tokens, tape, parameters, WIDTH);
            Var middle = Transformer.linear(failing(below, fails), tape, parameters, WIDTH);
            return Transformer.linear(middle, tape, parameters, WIDTH);
        }
    }

    @Test
    void afterAFailedBackwardPassEverythingIsFreedAndTheNextOneWorks() {
        Device gpu = Gpu.required();
        FailingNetwork network = new FailingNetwork();
        Tensor host = Tensors.gaussian(new SplittableRandom(7), network.input(), DType.F32);
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor input = host.to(gpu).to(network.type);
            Parameters parameters = new Parameters(gpu);
            List<byte[]> expected = onOneStream(network, input, parameters);
            Runnable work = () -> {
                try (Scope _ = Scope.open()) {
                    step(network, input, parameters);
                }
            };
            work.run();
            long live = Tensor.live();
            network.fails[0] = true;
            assertThatThrownBy(work::run).hasMessage("wrong");
            assertThat(Tensor.live()).isEqualTo(live);
            Optional<CudaGraph> graph = CudaGraph.record(gpu.index(), CudaGraph.newPool(), () -> {}, work);
            assertThat(graph).as("a capture that fails").isEmpty();
            assertThat(Tensor.live()).isEqualTo(live);
            network.fails[0] = false;
            requireEqual(step(network, input, parameters), expected, "after the failures");
            parameters.values.forEach(Tensor::close);
        }
    }
}
