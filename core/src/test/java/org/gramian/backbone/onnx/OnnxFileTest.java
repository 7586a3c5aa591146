package org.gramian.backbone.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Damaged and hostile ONNX files: a clear error each, in bounded time and memory. */
class OnnxFileTest {
    private static final int MUTATIONS = Integer.getInteger("gramian.test.mutations", 150);
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final double[] EXTREMES = {-1, 0, 1, 2, 7, -5, 1e5, 3e9, 9e18, -9e18, 0.5};

    @TempDir
    Path folder;

    private static byte[] resource(String name) throws IOException {
        try (InputStream in =
                Objects.requireNonNull(OnnxFileTest.class.getResourceAsStream("/golden/onnx/" + name + ".onnx"))) {
            return in.readAllBytes();
        }
    }

    /** Reads, cuts and runs a network; only errors for the user may leave it. */
    private static boolean isUsable(OnnxGraph graph, Map<String, StoredTensor> weights) {
        List<Segment> segments = Segments.of(graph);
        Plan plan = Plan.of(
                new Plan.Task(graph, Fusion.fused(graph), graph.input().name(), graph.output(), Map.of()),
                Shape.of(1, 3, 32, 32));
        boolean large = graph.weights().values().stream().anyMatch(shape -> shape.elements() > 1 << 20);
        if (large || plan.largest() > 1 << 20) {
            return true; // only a test need not compute it
        }
        try (Scope _ = Scope.open();
                Tape tape = Tape.inference()) {
            Map<String, Var> variables = new HashMap<>();
            graph.weights().forEach((name, shape) -> {
                StoredTensor stored = weights.get(name);
                Tensor value = stored != null && stored.shape().equals(shape)
                        ? stored.toTensor()
                        : Tensors.full(0.1, shape, DType.F32, Device.CPU);
                variables.put(name, tape.constant(value));
            });
            Var state = tape.constant(Tensors.full(0.5, Shape.of(1, 3, 32, 32), DType.F32, Device.CPU));
            for (Segment segment : segments) {
                state = segment.apply(state, Bindings.of(variables));
            }
            assertThat(state.shape().elements()).isPositive();
        }
        return true;
    }

    @Test
    void changedBytesGiveAClearError() throws IOException {
        SplittableRandom random = new SplittableRandom(11);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            Path file = folder.resolve("mutated.onnx");
            Files.write(file, mutated(resource(random.nextBoolean() ? "kitchen" : "vit"), random));
            long start = System.nanoTime();
            try (Arena arena = Arena.ofConfined()) {
                OnnxFile read = OnnxFile.read(file, arena);
                isUsable(read.graph(), read.weights());
            } catch (TensorFileException | IllegalArgumentException problem) {
                assertThat(problem.getMessage()).as("mutation %s", i).isNotBlank();
                refused++;
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("mutation %s", i)
                    .isLessThan(LIMIT);
        }
        assertThat(refused).isGreaterThan(MUTATIONS / 3);
    }

    private static byte[] mutated(byte[] bytes, SplittableRandom random) {
        int place = random.nextInt(bytes.length);
        int length = 1 + random.nextInt(64);
        int end = Math.min(bytes.length, place + length);
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(bytes, place);
            case 1 -> joined(Arrays.copyOf(bytes, place), Arrays.copyOfRange(bytes, end, bytes.length));
            case 2 -> joined(Arrays.copyOf(bytes, end), Arrays.copyOfRange(bytes, place, bytes.length));
            default -> {
                byte[] changed = bytes.clone();
                for (int i = 0; i < 1 + random.nextInt(16); i++) {
                    changed[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
                }
                yield changed;
            }
        };
    }

    private static byte[] joined(byte[] a, byte[] b) {
        byte[] both = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, both, a.length, b.length);
        return both;
    }

    @Test
    void changedGraphsGiveAClearError() throws IOException {
        SplittableRandom random = new SplittableRandom(12);
        Path file = folder.resolve("whole.onnx");
        int refused = 0;
        for (String name : List.of("kitchen", "vit-fixed")) {
            Files.write(file, resource(name));
            try (Arena arena = Arena.ofConfined()) {
                OnnxFile read = OnnxFile.read(file, arena);
                for (int i = 0; i < MUTATIONS / 2; i++) {
                    String json = mutated(read.graph().toJson(), random);
                    long start = System.nanoTime();
                    try {
                        isUsable(OnnxGraph.ofJson(json), read.weights());
                    } catch (IllegalArgumentException problem) {
                        assertThat(problem.getMessage()).as("mutation %s", i).isNotBlank();
                        refused++;
                    }
                    assertThat(Duration.ofNanos(System.nanoTime() - start))
                            .as("mutation %s", i)
                            .isLessThan(LIMIT);
                }
            }
        }
        assertThat(refused).isGreaterThan(MUTATIONS / 3);
    }

    /** Changes an operator, its inputs, attributes, a constant or the shape of a weight. */
    private static String mutated(String json, SplittableRandom random) {
        ObjectNode root = (ObjectNode) JsonMapper.shared().readTree(json);
        ArrayNode nodes = (ArrayNode) root.get("nodes");
        ObjectNode node = (ObjectNode) nodes.get(random.nextInt(nodes.size()));
        ObjectNode other = (ObjectNode) nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(7)) {
            case 0 -> nodes.remove(random.nextInt(nodes.size()));
            case 1 -> node.set("inputs", other.get("inputs"));
            case 2 -> node.set("operator", other.get("operator"));
            case 3 -> node.set("attributes", other.get("attributes"));
            case 4 -> extreme((ObjectNode) node.get("attributes"), random);
            case 5 -> extreme((ObjectNode) root.get("constants"), random);
            default -> extreme((ObjectNode) root.get("weights"), random);
        }
        return root.toString();
    }

    /** Replaces a number in a random entry. */
    private static void extreme(ObjectNode entries, SplittableRandom random) {
        List<String> names = entries.propertyStream().map(Map.Entry::getKey).toList();
        if (names.isEmpty()) {
            return;
        }
        String name = names.get(random.nextInt(names.size()));
        double value = EXTREMES[random.nextInt(EXTREMES.length)];
        JsonNode entry = entries.get(name).isObject() ? entries.get(name).get("values") : entries.get(name);
        if (entry instanceof ArrayNode list && !list.isEmpty()) {
            list.set(
                    random.nextInt(list.size()),
                    JsonMapper.shared().getNodeFactory().numberNode((long) value));
        } else if (entry.isNumber()) {
            entries.put(name, (long) value);
        }
    }

    @Test
    void externalDataStaysInTheFolderOfTheFile() throws IOException {
        Path inside = Files.createDirectory(folder.resolve("network"));
        Files.write(folder.resolve("secret.bin"), new byte[64]);
        Files.write(inside.resolve("data.bin"), new byte[64]);
        Files.createSymbolicLink(inside.resolve("link.bin"), folder.resolve("secret.bin"));
        Map<String, String> expected = Map.of(
                "../secret.bin",
                "in the folder of the file",
                folder.resolve("secret.bin").toString(),
                "in the folder of the file",
                "link.bin",
                "a link that leaves it",
                "",
                "in the folder of the file",
                "none.bin",
                "found none with that name");
        for (Map.Entry<String, String> entry : expected.entrySet()) {
            assertThatThrownBy(() -> readExternal(inside, entry.getKey(), 0, 24))
                    .hasMessageContaining(entry.getValue());
        }
        assertThatThrownBy(() -> readExternal(inside, "data.bin", 60, 24)).hasMessageContaining("within the 64 bytes");
        assertThatThrownBy(() -> readExternal(inside, "data.bin", -8, 24)).hasMessageContaining("within the 64 bytes");
        assertThatThrownBy(() -> readExternal(inside, "data.bin", 0, 20)).hasMessageContaining("found 20 bytes");
        assertThat(readExternal(inside, "data.bin", 8, 24).weights()).containsOnlyKeys("w");
    }

    /** A graph {@code y = x·w} with {@code w [2, 3, 1, 1]} in an external file. */
    private static OnnxFile readExternal(Path folder, String location, long offset, long length) throws IOException {
        byte[] tensor = message(
                whole(1, 2),
                whole(1, 3),
                whole(1, 1),
                whole(1, 1),
                whole(2, 1),
                text(8, "w"),
                nested(13, text(1, "location"), text(2, location)),
                nested(13, text(1, "offset"), text(2, Long.toString(offset))),
                nested(13, text(1, "length"), text(2, Long.toString(length))),
                whole(14, 1));
        Path file = folder.resolve("network.onnx");
        Files.write(
                file, model(nested(1, text(1, "x"), text(1, "w"), text(2, "y"), text(4, "Conv")), field(5, tensor)));
        try (Arena arena = Arena.ofConfined()) {
            OnnxFile read = OnnxFile.read(file, arena);
            assertThat(Segments.of(read.graph())).hasSize(1);
            return read;
        }
    }

    @Test
    void hostileGraphsAreRefused() {
        byte[] cycle = message(
                nested(1, text(1, "x"), text(1, "z"), text(2, "y"), text(4, "Add")),
                nested(1, text(1, "y"), text(2, "z"), text(4, "Relu")));
        assertRefused(cycle, "cycle");
        assertRefused(
                nested(1, text(1, "x"), text(2, "y"), text(4, "Fancy"), text(3, "/a/b")),
                "'/a/b' (Fancy)",
                "not supported");
        assertRefused(nested(1, text(1, "nothing"), text(2, "y"), text(4, "Relu")), "'nothing' is not defined");
        byte[] twice = message(
                nested(1, text(1, "x"), text(2, "y"), text(4, "Relu")),
                nested(1, text(1, "x"), text(2, "y"), text(4, "Relu")));
        assertRefused(twice, "'y' twice");
        byte[] loop = nested(1, text(1, "x"), text(2, "y"), text(4, "Loop"), nested(5, text(1, "body"), nested(6)));
        assertRefused(loop, "a graph inside a node");
        byte[] huge = message(
                nested(1, text(1, "x"), text(1, "s"), text(2, "y"), text(4, "Expand")),
                nested(5, whole(1, 4), whole(2, 7), text(8, "s"), bytes(9, longs(1L << 20, 3, 1L << 20, 1L << 20))));
        assertRefused(huge, "2^31 elements");
        byte[] folded = message(
                nested(1, text(1, "s"), text(2, "big"), text(4, "ConstantOfShape")),
                nested(1, text(1, "x"), text(1, "big"), text(2, "y"), text(4, "Add")),
                nested(5, whole(1, 2), whole(2, 7), text(8, "s"), bytes(9, longs(1L << 15, 1L << 15))));
        assertRefused(folded, "at most 1048576 elements");
    }

    private void assertRefused(byte[] graph, String... messages) {
        Path file = folder.resolve("hostile.onnx");
        assertThatThrownBy(() -> {
                    Files.write(file, model(graph));
                    try (Arena arena = Arena.ofConfined()) {
                        Segments.of(OnnxFile.read(file, arena).graph());
                    }
                })
                .hasMessageContainingAll(messages);
    }

    @Test
    void theOperatorSetIsChecked() {
        byte[] graph = nested(1, text(1, "x"), text(2, "y"), text(4, "Relu"));
        Path file = folder.resolve("new.onnx");
        assertThatThrownBy(() -> {
                    Files.write(file, model(99, graph));
                    try (Arena arena = Arena.ofConfined()) {
                        OnnxFile.read(file, arena);
                    }
                })
                .isInstanceOf(TensorFileException.class)
                .hasMessageContaining("operator set 7 to 21, found 99");
    }

    @Test
    void aLongChainIsReadWithoutDeepRecursion() throws IOException {
        byte[][] nodes = new byte[20_000][];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = nested(
                    1,
                    text(1, i == 0 ? "x" : "t" + i),
                    text(2, i == nodes.length - 1 ? "y" : "t" + (i + 1)),
                    text(4, "Relu"));
        }
        Path file = folder.resolve("long.onnx");
        Files.write(file, model(nodes));
        long start = System.nanoTime();
        try (Arena arena = Arena.ofConfined()) {
            assertThat(Segments.of(OnnxFile.read(file, arena).graph())).hasSize(nodes.length);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
    }

    /** Returns a model with the input {@code x [n, 3, h, w]} and the output {@code y}. */
    private static byte[] model(byte[]... graph) {
        return model(13, graph);
    }

    private static byte[] model(int opset, byte[]... graph) {
        byte[] dynamic = nested(1, text(2, "n"));
        byte[] shape = nested(2, dynamic, nested(1, whole(1, 3)), dynamic, dynamic);
        byte[] input = nested(11, text(1, "x"), nested(2, nested(1, whole(1, 1), shape)));
        byte[] output = nested(12, text(1, "y"));
        return message(nested(7, message(graph), input, output), nested(8, whole(2, opset)));
    }

    private static byte[] message(byte[]... fields) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] field : fields) {
            out.writeBytes(field);
        }
        return out.toByteArray();
    }

    private static byte[] nested(int number, byte[]... fields) {
        return field(number, message(fields));
    }

    private static byte[] field(int number, byte[] content) {
        return message(varint(number << 3 | 2), varint(content.length), content);
    }

    private static byte[] bytes(int number, byte[] content) {
        return field(number, content);
    }

    private static byte[] text(int number, String value) {
        return field(number, value.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] whole(int number, long value) {
        return message(varint((long) number << 3), varint(value));
    }

    private static byte[] varint(long value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            out.write((int) ((rest & 0x7F) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
        return out.toByteArray();
    }

    private static byte[] longs(long... values) {
        ByteBuffer buffer = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        Arrays.stream(values).forEach(buffer::putLong);
        return buffer.array();
    }
}
