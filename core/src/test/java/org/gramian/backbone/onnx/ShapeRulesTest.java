package org.gramian.backbone.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ShapeRulesTest {
    private static NodeContext node(String operator, Shape x, long[]... constants) {
        List<Operand> inputs = Stream.concat(
                        Stream.of(Operand.computed(x, -1)),
                        Arrays.stream(constants).map(HostTensor::of).map(Operand::of))
                .toList();
        List<String> names =
                IntStream.range(0, inputs.size()).mapToObj(i -> "in" + i).toList();
        return new NodeContext(new OnnxNode("node", operator, names, List.of("out"), Map.of()), inputs, 17, 1, 1);
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
        NodeContext slice =
                node("Slice", Shape.of(size), new long[] {start}, new long[] {end}, new long[] {0}, new long[] {step});
        String found = Arrays.stream(ShapeRules.ranges(slice).getFirst().indexes())
                .mapToObj(Long::toString)
                .collect(Collectors.joining(" "));
        assertThat(found).isEqualTo(expected == null ? "" : expected);
    }

    @Test
    void unsqueezeInsertsDistinctAxes() {
        Shape x = Shape.of(3, 4);
        assertThat(ShapeRules.reshaped(node("Unsqueeze", x, new long[] {0, -1})))
                .isEqualTo(Shape.of(1, 3, 4, 1));
        NodeContext repeated = node("Unsqueeze", x, new long[] {0, -4});
        assertRejected(() -> ShapeRules.reshaped(repeated), "[0, -4]");
    }

    @Test
    void gatherNamesTheIndexOutside() {
        NodeContext gather = node("Gather", Shape.of(3), new long[] {0, -3, 7});
        assertRejected(() -> ShapeRules.indexes(gather, 0), "found 7");
    }
}
