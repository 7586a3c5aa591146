package org.gramian.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Gradients;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No second-order pooling makes a matrix of positions by positions: with 20,000 of them it would take 1.6 GB, which the
 * memory of this process would show. Seven maps of them take half a megabyte.
 */
class NoMatrixOfPositionsTest {
    private static final long HEIGHT = 100;
    private static final long WIDTH = 200;
    private static final long MATRIX = HEIGHT * WIDTH * HEIGHT * WIDTH * Float.BYTES;

    static Stream<String> secondOrder() {
        return PoolingContractTest.poolings().filter(text -> Pooling.parse(text).aggregation() instanceof SecondOrder);
    }

    @ParameterizedTest
    @MethodSource("secondOrder")
    void memoryGrowsLinearlyWithPositions(String text) throws IOException {
        Path reset = Path.of("/proc/self/clear_refs");
        assumeTrue(Files.isWritable(reset), "the highest mark of memory cannot be reset here");
        Pooling pooling = Pooling.parse(text);
        SplittableRandom random = new SplittableRandom(3);
        try (Scope _ = Scope.open();
                ParameterSet parameters = pooling.initialize(PoolingTrial.CHANNELS, random, DType.F32, Device.CPU)) {
            Fitting.pretend(parameters, random);
            Tensor features = Tensors.gaussian(random, Shape.of(1, PoolingTrial.CHANNELS, HEIGHT, WIDTH), DType.F32);
            Files.writeString(reset, "5");
            long before = kilobytes("VmRSS:");
            forwardAndBackward(pooling, features, parameters);
            assertThat((kilobytes("VmHWM:") - before) * 1024).isLessThan(MATRIX / 4);
        }
    }

    private static void forwardAndBackward(Pooling pooling, Tensor features, ParameterSet parameters) {
        try (Tape tape = Tape.recording()) {
            Var x = tape.variable(features);
            Var y = pooling.apply(x, Bindings.of(parameters.variables(tape)));
            try (Gradients gradients = tape.backward(y, Tensors.full(1, y.shape(), DType.F32, Device.CPU))) {
                assertThat(gradients.of(x).shape()).isEqualTo(features.shape());
            }
        }
    }

    private static long kilobytes(String name) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
