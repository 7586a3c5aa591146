package org.gramian.backbone.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.basis.Protobuf.Writer;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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

    private OnnxFile read(byte[] content, Arena arena) throws IOException {
        Path file = Files.write(folder.resolve("network.onnx"), content);
        return OnnxFile.read(file, arena);
    }

    /** Cuts and runs a network; only errors for the user may leave it. */
    private static void run(OnnxGraph graph, Map<String, StoredTensor> weights) {
        List<Segment> segments = Segments.of(graph);
        Plan plan = new Plan(
                graph,
                Fusion.fused(graph),
                graph.input().name(),
                graph.output(),
                Map.of(),
                Shape.of(1, 3, 32, 32),
                new AtomicLong());
        boolean large = graph.weights().values().stream().anyMatch(shape -> shape.elements() > 1 << 20);
        if (large || plan.largest() > 1 << 20) {
            return; // only a test need not compute it
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
    }

    private interface Attempt {
        void run() throws IOException;
    }

    /** Attempts to use a changed network; it must end in time, with a result or a message. */
    private static int refused(int mutation, Attempt attempt) throws IOException {
        long start = System.nanoTime();
        int refused = 0;
        try {
            attempt.run();
        } catch (TensorFileException | IllegalArgumentException problem) {
            assertThat(problem.getMessage()).as("mutation %s", mutation).isNotBlank();
            refused = 1;
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("mutation %s", mutation)
                .isLessThan(LIMIT);
        return refused;
    }

    @Test
    void rejectsOrRunsMutatedFiles() throws IOException {
        SplittableRandom random = new SplittableRandom(11);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] bytes = mutated(resource(random.nextBoolean() ? "kitchen" : "vit"), random);
            refused += refused(i, () -> {
                try (Arena arena = Arena.ofConfined()) {
                    OnnxFile read = read(bytes, arena);
                    run(read.graph(), read.weights());
                }
            });
        }
        assertThat(refused).isGreaterThan(MUTATIONS / 3);
    }

    private static byte[] mutated(byte[] bytes, SplittableRandom random) {
        int place = random.nextInt(bytes.length);
        int end = Math.min(bytes.length, place + 1 + random.nextInt(64));
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
    void rejectsOrRunsMutatedGraphs() throws IOException {
        SplittableRandom random = new SplittableRandom(12);
        int refused = 0;
        for (String name : List.of("kitchen", "vit-fixed")) {
            try (Arena arena = Arena.ofConfined()) {
                OnnxFile read = read(resource(name), arena);
                for (int i = 0; i < MUTATIONS / 2; i++) {
                    refused += refused(i, () -> {
                        OnnxGraph changed = mutated(read.graph(), random);
                        run(OnnxGraph.of(changed.definition()), read.weights());
                    });
                }
            }
        }
        assertThat(refused).isGreaterThan(MUTATIONS / 3);
    }

    /** Changes an operator, its inputs, attributes, a constant or the shape of a weight. */
    private static OnnxGraph mutated(OnnxGraph graph, SplittableRandom random) {
        List<OnnxNode> nodes = new ArrayList<>(graph.nodes());
        SequencedMap<String, HostTensor> constants = new LinkedHashMap<>(graph.constants());
        SequencedMap<String, Shape> weights = new LinkedHashMap<>(graph.weights());
        int index = random.nextInt(nodes.size());
        OnnxNode node = nodes.get(index);
        OnnxNode other = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(7)) {
            case 0 -> nodes.remove(index);
            case 1 -> nodes.set(index, node.withInputs(other.inputs()));
            case 2 -> nodes.set(index, changed(node, other.operator(), node.attributes()));
            case 3 -> nodes.set(index, changed(node, node.operator(), other.attributes()));
            case 4 -> {
                Map<String, Object> attributes = new HashMap<>(node.attributes());
                attributes.replaceAll((_, value) -> value instanceof HostTensor old ? extreme(old, random) : value);
                nodes.set(index, changed(node, node.operator(), attributes));
            }
            case 5 -> constants.computeIfPresent(any(constants, random), (_, old) -> extreme(old, random));
            default ->
                weights.computeIfPresent(
                        any(weights, random),
                        (_, old) -> Shape.of(
                                extreme(HostTensor.of(old.sizes()), random).integers()));
        }
        return new OnnxGraph(graph.opset(), graph.input(), graph.output(), nodes, constants, weights);
    }

    private static OnnxNode changed(OnnxNode node, String operator, Map<String, Object> attributes) {
        return new OnnxNode(node.name(), operator, node.inputs(), node.outputs(), attributes);
    }

    private static String any(SequencedMap<String, ?> entries, SplittableRandom random) {
        return List.copyOf(entries.keySet()).get(random.nextInt(entries.size()));
    }

    private static HostTensor extreme(HostTensor tensor, SplittableRandom random) {
        double[] values = tensor.values().clone();
        if (values.length > 0) {
            values[random.nextInt(values.length)] = EXTREMES[random.nextInt(EXTREMES.length)];
        }
        return new HostTensor(tensor.whole(), tensor.shape(), values);
    }

    @Test
    void externalDataStaysInTheFolderOfTheFile() throws IOException {
        Path inside = Files.createDirectory(folder.resolve("network"));
        Files.write(folder.resolve("secret.bin"), new byte[64]);
        Files.write(inside.resolve("data.bin"), new byte[64]);
        Files.createSymbolicLink(inside.resolve("link.bin"), folder.resolve("secret.bin"));
        String absolute = folder.resolve("secret.bin").toString();
        for (String location : List.of("../secret.bin", absolute, "link.bin", "", ".", "none.bin")) {
            assertRejected(TensorFileException.class, () -> readExternal(inside, location, 0, 24));
        }
        assertThatThrownBy(() -> readExternal(inside, "data.bin", 60, 24)).hasMessageContaining("within the 64 bytes");
        assertThatThrownBy(() -> readExternal(inside, "data.bin", -8, 24)).hasMessageContaining("within the 64 bytes");
        assertThatThrownBy(() -> readExternal(inside, "data.bin", 0, 20)).hasMessageContaining("found 20 bytes");
        assertThat(readExternal(inside, "data.bin", 8, 24).weights()).containsOnlyKeys("w");
    }

    /** A graph {@code y = x·w} with {@code w [2, 3, 1, 1]} in an external file. */
    private static OnnxFile readExternal(Path folder, String location, long offset, long length) throws IOException {
        Writer tensor = new Writer()
                .integers(1, new long[] {2, 3, 1, 1})
                .integer(2, 1)
                .text(8, "w")
                .message(13, entry("location", location))
                .message(13, entry("offset", Long.toString(offset)))
                .message(13, entry("length", Long.toString(length)))
                .integer(14, 1);
        Path file = folder.resolve("network.onnx");
        Files.write(
                file,
                model(13, new Writer().message(1, node("Conv", "x w", "y")).message(5, tensor)));
        try (Arena arena = Arena.ofConfined()) {
            OnnxFile read = OnnxFile.read(file, arena);
            assertThat(Segments.of(read.graph())).hasSize(1);
            return read;
        }
    }

    private static Writer entry(String key, String value) {
        return new Writer().text(1, key).text(2, value);
    }

    private static Writer node(String operator, String inputs, String output) {
        Writer node = new Writer();
        Arrays.stream(inputs.split(" ")).forEach(input -> node.text(1, input));
        return node.text(2, output).text(4, operator);
    }

    static Stream<Arguments> hostileGraphs() {
        Writer relu = node("Relu", "x", "y");
        Writer body = new Writer().text(1, "body").message(6, new Writer());
        return Stream.of(
                arguments("cycle", graph(node("Add", "x z", "y"), node("Relu", "y", "z"))),
                arguments("'/a/b' (Fancy)", graph(node("Fancy", "x", "y").text(3, "/a/b"))),
                arguments("'nothing' is not defined", graph(node("Relu", "nothing", "y"))),
                arguments("'y' twice", graph(relu, relu)),
                arguments("a graph inside a node", graph(node("Loop", "x", "y").message(5, body))),
                arguments(
                        "2^31 elements",
                        graph(node("Expand", "x s", "y")).message(5, sizes(1L << 20, 3, 1L << 20, 1L << 20))),
                arguments(
                        "at most 1048576 elements",
                        graph(node("ConstantOfShape", "s", "big"), node("Add", "x big", "y"))
                                .message(5, sizes(1L << 15, 1L << 15))),
                arguments(
                        "elements in all",
                        graph(Stream.concat(
                                                Stream.of(node("ConstantOfShape", "s", "t0")),
                                                IntStream.range(0, 100)
                                                        .mapToObj(i -> node("Neg", "t" + i, "t" + (i + 1))))
                                        .toArray(Writer[]::new))
                                .message(1, node("Add", "x t100", "y"))
                                .message(5, sizes(1L << 10, 1L << 10))));
    }

    private static Writer graph(Writer... nodes) {
        Writer graph = new Writer();
        Arrays.stream(nodes).forEach(node -> graph.message(1, node));
        return graph;
    }

    private static Writer sizes(long... values) {
        return OnnxWriter.tensor("s", HostTensor.of(values));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hostileGraphs")
    void rejectsHostileGraphs(String message, Writer graph) {
        assertThatThrownBy(() -> segments(model(13, graph))).hasMessageContaining(message);
    }

    private List<Segment> segments(byte[] model) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return Segments.of(read(model, arena).graph());
        }
    }

    @Test
    void rejectsUnknownOperatorSet() {
        assertRejected(
                TensorFileException.class,
                () -> segments(model(99, graph(node("Relu", "x", "y")))),
                "operator set 7 to 21, found 99");
    }

    /** Attributes that later operator sets replaced by inputs. */
    @Test
    void upgradesOperatorsOfOldSets() throws IOException {
        Writer pads = new Writer().text(1, "pads");
        for (long pad : new long[] {0, 0, 1, 1, 0, 0, 1, 1}) {
            pads.integer(8, pad);
        }
        Writer scales = new Writer().text(1, "scales");
        for (float scale : new float[] {1, 1, 2, 2}) {
            scales.float32(7, scale);
        }
        Writer graph = graph(
                node("Clip", "x", "a").message(5, new Writer().text(1, "max").float32(2, 6)),
                node("Pad", "a", "b").message(5, pads),
                node("Upsample", "b", "c").message(5, scales),
                node("ReduceMean", "c", "d")
                        .message(5, new Writer().text(1, "axes").integer(8, 2)),
                node("Squeeze", "d", "e")
                        .message(5, new Writer().text(1, "axes").integer(8, 2)),
                node("Softmax", "e", "f"),
                node("ReduceSum", "f", "y")
                        .message(5, new Writer().text(1, "axes").integer(8, -1))
                        .message(5, new Writer().text(1, "keepdims").integer(3, 0)));
        try (Arena arena = Arena.ofConfined()) {
            OnnxGraph read = read(model(9, graph), arena).graph();
            assertThat(read.nodes()).extracting(OnnxNode::operator).contains("Resize");
            assertThat(OnnxGraph.of(read.definition())).isEqualTo(read);
            Segment last = Segments.of(read).getLast();
            assertThat(last.ends().channels()).isEqualTo(3);
            Shape wide = Segments.of(read).get(2).output(Shape.of(3, 18, 18));
            assertThat(wide).isEqualTo(Shape.of(3, 36, 36));
        }
    }

    @Test
    void readsLongChainWithoutRecursion() throws IOException {
        Writer[] nodes = IntStream.range(0, 20_000)
                .mapToObj(i -> node("Relu", i == 0 ? "x" : "t" + i, i == 19_999 ? "y" : "t" + (i + 1)))
                .toArray(Writer[]::new);
        long start = System.nanoTime();
        assertThat(segments(model(13, graph(nodes)))).hasSize(nodes.length);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
    }

    /** Returns a model with the input {@code x [n, 3, h, w]} and the output {@code y}. */
    private static byte[] model(int opset, Writer graph) {
        OnnxWriter.ValueInfo input = new OnnxWriter.ValueInfo("x", List.of(-1L, 3L, -1L, -1L), "");
        OnnxWriter.ValueInfo output = new OnnxWriter.ValueInfo("y", List.of(), "");
        byte[] ends = OnnxWriter.graph(List.of(), List.of(), List.of(input), List.of(output))
                .toBytes();
        Writer whole = new Writer().bytes(7, MemorySegment.ofArray(joined(graph.toBytes(), ends)));
        return whole.message(8, new Writer().integer(2, opset)).toBytes();
    }
}
