package org.gramian.accelerate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.accelerate.FusedConvolution.Epilogue;
import org.gramian.accelerate.FusedConvolution.Filters;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.backbone.network.VisionTransformer;
import org.gramian.tensor.Activation;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.tensor.cuda.SideStream;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Gradients of parameters on a second stream against those of one stream. */
class SideStreamTest {
    private static final int REPLAYS = 50;

    /** Width of maps and of tokens. */
    private static final int WIDTH = 32;

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
            Var x = convolve(images, filters(tape, parameters, WIDTH, 16, 3), square, Activation.RELU);
            Filters shared = filters(tape, parameters, WIDTH, WIDTH, 3);
            for (int i = 0; i < 6; i++) {
                Var y = convolve(x, filters(tape, parameters, 2 * WIDTH, WIDTH, 1), pointwise, Activation.RELU6);
                y = convolve(y, filters(tape, parameters, WIDTH, 2 * WIDTH, 1), pointwise, Activation.NONE);
                y = convolve(y, filters(tape, parameters, WIDTH, 1, 3), depthwise, Activation.RELU6);
                y = pressure(y);
                Filters last = i % 3 == 1 ? shared : filters(tape, parameters, WIDTH, WIDTH, 3);
                x = FusedConvolution.apply(y, last, square, new Epilogue(x, Activation.RELU, null));
            }
            Var weight = parameters.next(tape, 0.1, WIDTH, WIDTH, 1, 1);
            Var bias = parameters.next(tape, 0.1, WIDTH);
            return convolve(x, new Filters(weight, bias, null), pointwise, Activation.NONE);
        }

        private static Var convolve(Var x, Filters filters, Convolution convolution, Activation activation) {
            return FusedConvolution.apply(x, filters, convolution, new Epilogue(null, activation, null));
        }

        private static Filters filters(Tape tape, Parameters parameters, int filters, int channels, int side) {
            double bound = Math.sqrt(3.0 / (channels * side * side));
            Var weight = parameters.next(tape, bound, filters, channels, side, side);
            Var gamma = parameters.next(tape, 1, filters);
            Var beta = parameters.next(tape, 1, filters);
            Var mean = parameters.next(tape, 0.1, filters);
            Tensor variance = parameters.value(0.5, 1.5, filters);
            parameters.variables.add(tape.constant(variance));
            return new Filters(weight, null, new FixedNorm(gamma, beta, mean.value(), variance, 1e-3));
        }
    }

    /** Blocks of attention and linear layers, of which two share their parameters. */
    private static final class Transformer extends Network {
        private static final FusedTokens BLOCK = new FusedTokens(new VisionTransformer.Block("b", 4, false));

        Transformer() {
            super(DType.BF16);
        }

        @Override
        Shape input() {
            return Shape.of(8, 50, WIDTH);
        }

        @Override
        Var apply(Var tokens, Parameters parameters) {
            Tape tape = tokens.tape();
            Bindings shared = bound(tape, parameters);
            Var x = BLOCK.apply(tokens, shared);
            x = BLOCK.apply(pressure(x), bound(tape, parameters));
            x = BLOCK.apply(pressure(x), shared);
            return BLOCK.apply(pressure(x), bound(tape, parameters));
        }

        private static Bindings bound(Tape tape, Parameters parameters) {
            Map<String, Var> bound = new LinkedHashMap<>();
            for (ParameterSpec spec : BLOCK.parameters(WIDTH)) {
                bound.put(spec.name(), parameters.next(tape, 0.2, spec.shape().sizes()));
            }
            return Bindings.of(bound);
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
        try (Scheduler side = SideStream.openInCapture(input.device());
                Tape tape = Tape.recording(side)) {
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
        return Stream.of(new ResidualNetwork(DType.BF16), new ResidualNetwork(DType.F32), new Transformer());
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
}
