package org.gramian.backbone.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.backbone.onnx.HostileGraphs.chain;
import static org.gramian.backbone.onnx.HostileGraphs.model;
import static org.gramian.backbone.onnx.HostileGraphs.name;
import static org.gramian.backbone.onnx.HostileGraphs.node;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
    /** Under {@code ./verify --full} all files are as large as they may be. */
    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    private static final Duration LIMIT = Duration.ofSeconds(FULL ? 5 : 2);

    @TempDir
    Path folder;

    static Stream<Arguments> graphs() {
        return HostileGraphs.crafted(FULL ? OnnxGraph.MAX_NODES : OnnxGraph.MAX_NODES / 4).entrySet().stream()
                .map(graph -> Arguments.of(graph.getKey(), graph.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("graphs")
    void readsOrRejectsFast(String name, byte[] model) throws IOException {
        long start = cpuTime();
        try {
            assertThat(layers(model)).isPositive();
        } catch (TensorFileException | IllegalArgumentException rejected) {
            assertThat(rejected).hasMessageContaining("expected");
        }
        assertThat(Duration.ofNanos(cpuTime() - start)).isLessThan(LIMIT);
    }

    /** Of this thread, which says the same on a busy machine. */
    private static long cpuTime() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
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
}
