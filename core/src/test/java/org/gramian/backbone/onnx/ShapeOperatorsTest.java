package org.gramian.backbone.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ShapeOperatorsTest {
    private static Operand result(String operator, Operand x, long[]... constants) {
        List<Operand> inputs = Stream.concat(
                        Stream.of(x),
                        Arrays.stream(constants).map(HostTensor::of).map(Operand::of))
                .toList();
        List<String> names =
                IntStream.range(0, inputs.size()).mapToObj(i -> "in" + i).toList();
        OnnxNode node = new OnnxNode("node", operator, names, List.of("out"), Map.of());
        return Operators.bind(new NodeContext(node, inputs, 17, 1, 1, new AtomicLong()))
                .outputs()
                .getFirst();
    }

    /** Expected indexes are those of NumPy's {@code range(size)[start:end:step]}. */
    @ParameterizedTest
    @CsvSource(nullValues = "none", textBlock = """
        5,  1,  4,  1, 1 2 3
        5,  0,  9,  2, 0 2 4
        5, -2,  9,  1, 3 4
        5,  3,  1,  1, none
        5, -1, -9, -1, 4 3 2 1 0
        5,  9, -9, -2, 4 2 0
        5,  3,  0, -1, 3 2 1
        0,  0,  9,  1, none
        0,  0, -9, -1, none
        5, -1, -9223372036854775808, -9223372036854775808, 4
        """)
    void sliceTakesIndexes(long size, long start, long end, long step, String expected) {
        Operand range = Operand.of(HostTensor.of(LongStream.range(0, size).toArray()));
        long[][] bounds = {{start}, {end}, {0}, {step}};
        HostTensor slice = Objects.requireNonNull(result("Slice", range, bounds).constant());
        String found = Arrays.stream(slice.integers()).mapToObj(Long::toString).collect(Collectors.joining(" "));
        assertThat(found).isEqualTo(expected == null ? "" : expected);
    }

    @Test
    void unsqueezeInsertsDistinctAxes() {
        Operand x = Operand.computed(Shape.of(3, 4), -1);
        assertThat(result("Unsqueeze", x, new long[] {0, -1}).shape()).isEqualTo(Shape.of(1, 3, 4, 1));
        assertRejected(() -> result("Unsqueeze", x, new long[] {0, -4}), "[0, -4]");
    }

    @Test
    void gatherNamesTheIndexOutside() {
        Operand x = Operand.computed(Shape.of(3), -1);
        assertRejected(() -> result("Gather", x, new long[] {0, -3, 7}), "found 7");
    }
}
