package org.gramian.backbone.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.basis.Protobuf.Writer;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.file.TensorFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Small ONNX files whose shapes and constants would compute for minutes are read or rejected fast. */
class HostileGraphTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    @TempDir
    Path folder;

    private static Writer node(String operator, String inputs, String output) {
        Writer node = new Writer();
        Arrays.stream(inputs.split(" ")).forEach(input -> node.text(1, input));
        Arrays.stream(output.split(" ")).forEach(name -> node.text(2, name));
        return node.text(4, operator);
    }

    private static Writer attribute(String name, long value) {
        return new Writer().text(1, name).integer(3, value).integer(20, 2);
    }

    private static Writer integers(String name, long... values) {
        return OnnxWriter.tensor(name, HostTensor.of(values));
    }

    /** {@code first}, then nodes {@code t0 → t1 → … → y}. */
    private static Writer chain(int count, IntFunction<Writer> node) {
        Writer graph = new Writer();
        IntStream.range(0, count).mapToObj(node).forEach(each -> graph.message(1, each));
        return graph;
    }

    /** Returns a name that is equal to those of other numbers but for special characters. */
    private static String odd(int i) {
        return Integer.toBinaryString(1 << 15 | i).replace('0', '!').replace('1', '#');
    }

    private static String name(int i, int count) {
        return i == 0 ? "x" : i == count ? "y" : "t" + i;
    }

    static Stream<Arguments> graphs() {
        long big = 1L << 20;
        int n = 3_000;
        Writer reductions = chain(n, i -> node("ReduceMax", "big", "m" + i))
                .message(1, node("ConstantOfShape", "s", "big"))
                .message(
                        1,
                        node(
                                        "Concat",
                                        String.join(
                                                " ",
                                                IntStream.range(0, n)
                                                        .mapToObj(i -> "m" + i)
                                                        .toList()),
                                        "all")
                                .message(5, attribute("axis", 0)))
                .message(1, node("ReduceMax", "all", "sum").message(5, attribute("keepdims", 0)))
                .message(1, node("Add", "x sum", "y"))
                .message(5, integers("s", big));
        long[] zeros = new long[4_000];
        long[] ends = new long[4_000];
        Arrays.fill(ends, big);
        Writer slice = new Writer()
                .message(1, node("ConstantOfShape", "s", "big"))
                .message(1, node("Slice", "big zeros ends zeros", "part"))
                .message(1, node("ReduceMax", "part", "sum").message(5, attribute("keepdims", 0)))
                .message(1, node("Add", "x sum", "y"))
                .message(5, integers("s", big))
                .message(5, integers("zeros", zeros))
                .message(5, integers("ends", ends));
        long[] eight = new long[4_000];
        Arrays.fill(eight, 3);
        long[] last = new long[4_000];
        Arrays.fill(last, 1 << 20);
        Writer sliceData = new Writer()
                .message(1, node("Slice", "x zeros last axes", "y"))
                .message(5, integers("zeros", zeros))
                .message(5, integers("last", last))
                .message(5, integers("axes", eight));
        int m = 60;
        Writer erf = chain(m, i -> node("Erf", "t" + i, "t" + (i + 1)))
                .message(
                        1,
                        node("ConstantOfShape", "s", "t0")
                                .message(
                                        5,
                                        new Writer()
                                                .text(1, "value")
                                                .message(5, OnnxWriter.tensor("", HostTensor.number(4.9)))))
                .message(1, node("ReduceMax", "t" + m, "sum").message(5, attribute("keepdims", 0)))
                .message(1, node("Add", "x sum", "y"))
                .message(5, integers("s", big));
        int k = 20_000;
        Writer relu = chain(k, i -> node("Relu", name(i, k), name(i + 1, k)));
        Writer mul =
                chain(k, i -> node("Mul", name(i, k) + " c", name(i + 1, k))).message(5, integers("c", 1));
        Writer same = chain(k, i -> node("Relu", i == 0 ? "x" : odd(i), i == k - 1 ? "y" : odd(i + 1)));
        Writer transposes = chain(
                k,
                i -> node("Transpose", name(i, k), name(i + 1, k))
                        .message(
                                5,
                                new Writer()
                                        .text(1, "perm")
                                        .integers(8, new long[] {0, 1, 3, 2})
                                        .integer(20, 7)));
        Writer wide = chain(19_999, i -> node("Relu", "x", "r" + i));
        int half = 9_999;
        // all read x, then are added up
        Writer ladder = chain(half, i -> node("Relu", "x", "r" + i));
        for (int i = 0; i < half; i++) {
            ladder.message(1, node("Add", (i == 0 ? "x" : "s" + i) + " r" + i, i == half - 1 ? "y" : "s" + (i + 1)));
        }
        // tokens without feature maps before them
        Writer tokens = chain(k - 1, i -> node("Relu", i == 0 ? "tokens" : "t" + i, i == k - 2 ? "y" : "t" + (i + 1)))
                .message(1, node("Reshape", "x form", "tokens"))
                .message(5, integers("form", 0, 3, -1));
        // constants of sizes, all needed by each layer
        Writer shapes = chain(half, i -> node("Relu", name(2 * i, 2 * half), "q" + i));
        for (int i = 0; i < half; i++) {
            shapes.message(1, node("Mul", "q" + i + " sizes", name(2 * i + 2, 2 * half)));
        }
        shapes.message(1, node("Shape", "x", "sizes0"))
                .message(1, node("ReduceMax", "sizes0", "sizes").message(5, attribute("keepdims", 0)));
        Writer constants = chain(20_000, i -> node("Mul", name(i, 20_000) + " c" + i, name(i + 1, 20_000)));
        IntStream.range(0, 20_000).forEach(i -> constants.message(5, integers("c" + i, 1)));
        return Stream.of(
                Arguments.of("reductions", reductions),
                Arguments.of("slice", slice),
                Arguments.of("slice of data", sliceData),
                Arguments.of("erf", erf),
                Arguments.of("relu", relu),
                Arguments.of("mul", mul),
                Arguments.of("same names", same),
                Arguments.of("transposes", transposes),
                Arguments.of("wide", wide.message(1, node("Relu", "r1", "y"))),
                Arguments.of("ladder", ladder),
                Arguments.of("tokens", tokens),
                Arguments.of("shapes", shapes),
                Arguments.of("constants", constants));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("graphs")
    void readsOrRejectsFast(String name, Writer graph) throws IOException {
        byte[] model = model(graph);
        long start = System.nanoTime();
        try {
            assertThat(layers(model)).isPositive();
        } catch (TensorFileException | IllegalArgumentException rejected) {
            assertThat(rejected).hasMessageContaining("expected");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
    }

    /** Reads a file, and its graph again as that of a model's metadata. */
    private int layers(byte[] model) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            Path file = Files.write(folder.resolve("network.onnx"), model);
            String definition = OnnxFile.read(file, arena).graph().definition();
            return Backbone.of("hostile", definition, Preprocessing.TORCHVISION)
                    .layers()
                    .size();
        }
    }

    /** Of 1 MiB, which took 800 MB as doubles. */
    @Test
    void rejectsManyViewsOfOneExternalFile() throws IOException {
        Files.write(folder.resolve("data.bin"), new byte[1 << 20]);
        Writer graph = chain(100, i -> node("Mul", name(i, 100) + " c" + i, name(i + 1, 100)));
        for (int i = 0; i < 100; i++) {
            Writer location = new Writer().text(1, "location").text(2, "data.bin");
            graph.message(
                    5,
                    new Writer()
                            .integers(1, new long[] {1 << 20})
                            .integer(2, 3)
                            .text(8, "c" + i)
                            .message(13, location)
                            .integer(14, 1));
        }
        assertThatThrownBy(() -> layers(model(graph))).hasMessageContaining("integers in all tensors");
    }

    @Test
    void dropsUnusedTensorsFirst() throws IOException {
        Writer graph = new Writer().message(1, node("Relu", "x", "y"));
        for (int i = 0; i < 40; i++) {
            graph.message(
                    5,
                    new Writer()
                            .integers(1, new long[] {1 << 20})
                            .integer(2, 3)
                            .text(8, "c" + i)
                            .bytes(9, MemorySegment.ofArray(new byte[1 << 20])));
        }
        assertThat(layers(model(graph))).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Identity",
                "Dropout",
                "Concat",
                "Max",
                "Sum",
                "Relu",
                "Conv",
                "Range",
                "Shape",
                "Add",
                "MatMul",
                "Constant",
                "ConstantOfShape",
                "Transpose",
                "Resize",
                "BatchNormalization",
                "Softmax",
                "Gemm",
                "Where"
            })
    void rejectsNodesWithoutInputs(String operator) {
        Writer graph = new Writer()
                .message(1, new Writer().text(2, "a").text(4, operator))
                .message(1, node("Add", "x a", "y"));
        assertThatThrownBy(() -> layers(model(graph)))
                .isInstanceOfAny(TensorFileException.class, IllegalArgumentException.class)
                .hasMessageContaining("expected");
    }

    private static byte[] model(Writer graph) {
        OnnxWriter.ValueInfo input = new OnnxWriter.ValueInfo("x", List.of(-1L, 3L, -1L, -1L), "");
        OnnxWriter.ValueInfo output = new OnnxWriter.ValueInfo("y", List.of(), "");
        byte[] ends = OnnxWriter.graph(List.of(), List.of(), List.of(input), List.of(output))
                .toBytes();
        byte[] body = graph.toBytes();
        byte[] joined = Arrays.copyOf(body, body.length + ends.length);
        System.arraycopy(ends, 0, joined, body.length, ends.length);
        return new Writer()
                .bytes(7, MemorySegment.ofArray(joined))
                .message(8, new Writer().integer(2, 13))
                .toBytes();
    }
}
