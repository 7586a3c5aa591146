package org.gramian.backbone.onnx;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.backbone.onnx.ProtoMessage.NumberList;
import org.gramian.backbone.onnx.ProtoMessage.Wire;
import org.gramian.backbone.onnx.TensorProto.Source;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;

/**
 * Content of an ONNX file.
 *
 * <p>Floating-point tensors are weights, converted to float32. Integers, scalars and the short constants of formulas
 * are constants of the graph.
 *
 * @param graph operators that compute the first output of the file
 * @param weights by the names of {@link OnnxGraph#weights}
 * @see <a href="https://github.com/onnx/onnx/blob/main/onnx/onnx.proto">the message definition</a>
 */
public record OnnxFile(OnnxGraph graph, SequencedMap<String, StoredTensor> weights) {
    /** A message of protocol buffers is smaller than 2 GiB; larger networks have external data. */
    private static final long MAX_BYTES = Integer.MAX_VALUE;

    private static final int MAX_LIST = 4096;

    /** Inputs that are parameters of an operator, not data, whatever their type. */
    private static final Set<String> OPERATORS_WITH_SIZES = Set.of("Resize", "Upsample", "Clip", "Pad", "Range");

    /** Floats in a Constant node of at most this many elements are constants of a formula, not weights. */
    private static final int SHORT = 8;

    public OnnxFile {
        weights = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(weights));
    }

    /**
     * Reads a file; its weights live as long as the arena.
     *
     * @throws TensorFileException if the file cannot be read, is damaged, or is no network of one image input; the
     *     message says what was expected and found
     */
    public static OnnxFile read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            if (file.size() > MAX_BYTES) {
                throw new TensorFileException(
                        path, "expected an ONNX file of less than 2 GiB, found " + file.size() + " bytes");
            }
            return new Reader(new Source(path, arena, new HashMap<>()))
                    .model(new ProtoMessage(file.load(0, arena, _ -> {})));
        } catch (IllegalArgumentException problem) {
            throw new TensorFileException(path, "not a usable ONNX network: " + problem.getMessage(), problem);
        }
    }

    /** Reader of one file. */
    private static final class Reader {
        private final Source source;
        private final List<OnnxNode> nodes = new ArrayList<>();
        private final Map<String, TensorProto> tensors = new LinkedHashMap<>();
        private final Set<String> constants = new HashSet<>();
        private final SequencedMap<String, List<Long>> inputs = new LinkedHashMap<>();
        private final List<String> outputs = new ArrayList<>();
        private long opset;
        private boolean hasGraph;

        Reader(Source source) {
            this.source = source;
        }

        OnnxFile model(ProtoMessage message) throws TensorFileException {
            while (message.next()) {
                switch (message.field()) {
                    case 7 -> {
                        if (hasGraph) {
                            throw new IllegalArgumentException("expected one graph, found two");
                        }
                        hasGraph = true;
                        graph(message.message());
                    }
                    case 8 -> opset(message.message());
                    case 25 ->
                        throw new IllegalArgumentException("expected operators only, found functions of the"
                                + " file's own; export with inlined functions");
                    default -> {}
                }
            }
            if (!hasGraph) {
                throw new IllegalArgumentException("expected a graph, found none; is this an ONNX file?");
            }
            return file();
        }

        private void opset(ProtoMessage message) {
            String domain = "";
            long version = 0;
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> domain = message.text();
                    case 2 -> version = message.whole();
                    default -> {}
                }
            }
            if (domain.isEmpty() || domain.equals("ai.onnx")) {
                opset = version;
            }
        }

        private void graph(ProtoMessage message) throws TensorFileException {
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> node(message.message());
                    case 5 -> add(TensorProto.read(message.message(), source));
                    case 11 -> input(message.message());
                    case 12 -> outputs.add(name(message.message()));
                    case 15 ->
                        throw new IllegalArgumentException(
                                "expected dense tensors, found a sparse initializer; export dense weights");
                    default -> {}
                }
            }
        }

        private void add(TensorProto tensor) {
            if (tensors.size() == OnnxGraph.MAX_NODES) {
                throw new IllegalArgumentException("expected at most " + OnnxGraph.MAX_NODES + " tensors, found more");
            }
            if (tensors.put(tensor.name(), tensor) != null) {
                throw new IllegalArgumentException(
                        "expected every tensor once, found " + QuotedText.text(tensor.name()) + " twice");
            }
        }

        private void node(ProtoMessage message) throws TensorFileException {
            if (nodes.size() == OnnxGraph.MAX_NODES) {
                throw new IllegalArgumentException("expected at most " + OnnxGraph.MAX_NODES + " nodes, found more");
            }
            String name = "";
            String operator = "";
            String domain = "";
            List<String> entering = new ArrayList<>();
            List<String> leaving = new ArrayList<>();
            Map<String, HostTensor> numbers = new LinkedHashMap<>();
            Map<String, String> texts = new LinkedHashMap<>();
            Map<String, TensorProto> values = new LinkedHashMap<>();
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> addName(entering, message.text());
                    case 2 -> addName(leaving, message.text());
                    case 3 -> name = message.text();
                    case 4 -> operator = message.text();
                    case 5 -> attribute(message.message(), numbers, texts, values);
                    case 7 -> domain = message.text();
                    default -> {}
                }
            }
            boolean standard = domain.isEmpty() || domain.equals("ai.onnx");
            OnnxNode node = new OnnxNode(
                    name, standard ? operator : domain + ":" + operator, entering, leaving, numbers, texts);
            if (leaving.isEmpty() || leaving.getFirst().isEmpty()) {
                throw node.error("expected an output, found none");
            }
            if (!node.operator().equals("Constant")) {
                values.forEach((key, value) -> numbers.put(key, value.constant()));
                nodes.add(new OnnxNode(name, node.operator(), entering, leaving, numbers, texts));
            } else if (values.get("value") != null) {
                TensorProto value = values.get("value");
                add(new TensorProto(node.output(), value.type(), value.shape(), value.data()));
                if (value.shape().elements() <= SHORT) {
                    constants.add(node.output());
                }
            } else if (numbers.size() == 1) {
                nodes.add(new OnnxNode(name, "Constant", List.of(), leaving, numbers, texts));
            } else {
                throw node.error("expected a tensor or numbers as the value, found none");
            }
        }

        private static void addName(List<String> names, String name) {
            if (names.size() == MAX_LIST) {
                throw new IllegalArgumentException(
                        "expected at most " + MAX_LIST + " inputs or outputs of a node, found more");
            }
            names.add(name);
        }

        private void attribute(
                ProtoMessage message,
                Map<String, HostTensor> numbers,
                Map<String, String> texts,
                Map<String, TensorProto> tensorValues)
                throws TensorFileException {
            String name = "";
            NumberList wholes = new NumberList(MAX_LIST);
            List<Double> reals = new ArrayList<>();
            String text = null;
            TensorProto tensor = null;
            boolean list = false;
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> name = message.text();
                    case 2 -> reals.add((double) message.real());
                    case 3 -> wholes.add(message.whole());
                    case 4 -> text = message.text();
                    case 5 -> tensor = TensorProto.read(message.message(), source);
                    case 6, 11 ->
                        throw new IllegalArgumentException("attribute " + QuotedText.text(name)
                                + ": found a graph inside a node (If, Loop or Scan), which is not supported; export the"
                                + " network in evaluation mode with fixed control flow");
                    case 7 -> {
                        list = true;
                        floats(message, reals);
                    }
                    case 8 -> {
                        list = true;
                        message.wholes(wholes);
                    }
                    default -> {}
                }
            }
            if (text != null) {
                texts.put(name, text);
            } else if (tensor != null) {
                tensorValues.put(name, tensor);
            } else if (!reals.isEmpty()) {
                double[] values = reals.stream().mapToDouble(value -> value).toArray();
                numbers.put(name, list ? HostTensor.ofDoubles(values) : HostTensor.scalar(false, values[0]));
            } else {
                long[] values = wholes.toArray();
                numbers.put(
                        name,
                        list || values.length == 0
                                ? HostTensor.ofLongs(values)
                                : HostTensor.scalar(true, (double) values[0]));
            }
        }

        private static void floats(ProtoMessage message, List<Double> target) {
            MemorySegment content = message.content();
            if (content.byteSize() % Float.BYTES != 0 || content.byteSize() > (long) MAX_LIST * Float.BYTES) {
                throw new IllegalArgumentException("expected at most " + MAX_LIST + " floats in an attribute, found "
                        + content.byteSize() + " bytes");
            }
            for (float value : content.toArray(JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN))) {
                target.add((double) value);
            }
        }

        private static String name(ProtoMessage valueInfo) {
            String name = "";
            while (valueInfo.next()) {
                name = valueInfo.field() == 1 ? valueInfo.text() : name;
            }
            return name;
        }

        /** Reads name and sizes of an input: {@code type.tensor_type.shape.dim}. */
        private void input(ProtoMessage message) {
            String name = "";
            List<Long> sizes = new ArrayList<>();
            while (message.next()) {
                if (message.field() == 1) {
                    name = message.text();
                } else if (message.field() == 2) {
                    sizes = nested(nested(nested(message, 1), 2), 1, sizes);
                }
            }
            inputs.put(name, sizes);
        }

        private static ProtoMessage nested(ProtoMessage message, int field) {
            ProtoMessage inner = message.message();
            while (inner.next()) {
                if (inner.field() == field && inner.wire() == Wire.DELIMITED) {
                    return inner;
                }
            }
            return new ProtoMessage(MemorySegment.ofArray(new byte[0]));
        }

        private static List<Long> nested(ProtoMessage shape, int field, List<Long> none) {
            if (shape.field() == 0) {
                return none;
            }
            List<Long> sizes = new ArrayList<>();
            ProtoMessage dimensions = shape.message();
            while (dimensions.next()) {
                if (dimensions.field() == field) {
                    ProtoMessage dimension = dimensions.message();
                    long size = -1;
                    while (dimension.next()) {
                        size = dimension.field() == 1 ? dimension.whole() : size;
                    }
                    sizes.add(size <= 0 ? -1 : size);
                }
            }
            return sizes;
        }

        /** Removes the transpose at the start of a TensorFlow network {@code [n, h, w, 3]}: images have channels first. */
        private Map.Entry<String, List<Long>> channelsFirst(Map.Entry<String, List<Long>> image) {
            List<Long> sizes = image.getValue();
            List<OnnxNode> users = nodes.stream()
                    .filter(node -> node.inputs().contains(image.getKey()))
                    .toList();
            boolean transposed = sizes.size() == 4
                    && sizes.get(1) != 3
                    && sizes.get(3) == 3
                    && users.size() == 1
                    && users.getFirst().operator().equals("Transpose")
                    && Arrays.equals(users.getFirst().longs("perm"), new long[] {0, 3, 1, 2});
            if (!transposed) {
                return image;
            }
            nodes.remove(users.getFirst());
            return Map.entry(
                    users.getFirst().output(), List.of(sizes.get(0), sizes.get(3), sizes.get(1), sizes.get(2)));
        }

        /** Selects the image input and the first output, and divides tensors into constants and weights. */
        private OnnxFile file() {
            inputs.keySet().removeAll(tensors.keySet()); // before IR version 4 initializers are inputs too
            if (inputs.size() != 1) {
                throw new IllegalArgumentException("expected one input, the images, found " + inputs.size() + " "
                        + inputs.keySet().stream()
                                .limit(5)
                                .map(QuotedText::bare)
                                .toList());
            }
            if (outputs.isEmpty()) {
                throw new IllegalArgumentException("expected an output, found none");
            }
            for (OnnxNode node : nodes) {
                if (OPERATORS_WITH_SIZES.contains(node.operator())) {
                    node.inputs().stream()
                            .skip(node.operator().equals("Range") ? 0 : 1)
                            .forEach(constants::add);
                }
            }
            SequencedMap<String, HostTensor> small = new LinkedHashMap<>();
            SequencedMap<String, Shape> shapes = new LinkedHashMap<>();
            for (TensorProto tensor : tensors.values()) {
                boolean constant = !tensor.type().isFloating()
                        || tensor.shape().elements() <= 1
                        || (constants.contains(tensor.name()) && tensor.shape().elements() <= SHORT);
                if (constant) {
                    small.put(tensor.name(), tensor.constant());
                } else {
                    shapes.put(tensor.name(), tensor.shape());
                }
            }
            Map.Entry<String, List<Long>> image = channelsFirst(inputs.firstEntry());
            OnnxGraph graph = new OnnxGraph(
                    Math.toIntExact(Math.clamp(opset, 0, 1000)),
                    new OnnxGraph.Input(image.getKey(), image.getValue()),
                    outputs.getFirst(),
                    nodes,
                    small,
                    shapes);
            Operators.requireSupported(graph.nodes());
            SequencedMap<String, StoredTensor> weights = new LinkedHashMap<>();
            for (String name : graph.weights().keySet()) {
                weights.put(name, Objects.requireNonNull(tensors.get(name)).weight(source.arena()));
            }
            return new OnnxFile(graph, weights);
        }
    }
}
