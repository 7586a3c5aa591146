package org.gramian.backbone.onnx;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.backbone.onnx.TensorProto.Source;
import org.gramian.basis.Protobuf;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * Content of an ONNX file.
 *
 * <p>Floating-point tensors are weights, converted to float32. Integers, scalars and the short constants of formulas
 * are constants of the graph. Operators of older sets get the form of operator set 18: what became an input is one.
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

    /** Attributes of older operator sets that are inputs in later ones, in the order of the inputs after the first. */
    private static final Map<String, List<String>> INPUTS_ONCE_ATTRIBUTES = Map.ofEntries(
            Map.entry("Squeeze", List.of("axes")),
            Map.entry("Unsqueeze", List.of("axes")),
            Map.entry("ReduceMean", List.of("axes")),
            Map.entry("ReduceSum", List.of("axes")),
            Map.entry("ReduceProd", List.of("axes")),
            Map.entry("ReduceMax", List.of("axes")),
            Map.entry("ReduceMin", List.of("axes")),
            Map.entry("Split", List.of("split")),
            Map.entry("Slice", List.of("starts", "ends", "axes")),
            Map.entry("Clip", List.of("min", "max")),
            Map.entry("Pad", List.of("pads", "value")),
            Map.entry("Upsample", List.of("scales")));

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
            Reader reader = new Reader(new Source(path, arena, new HashMap<>()));
            OnnxGraph graph = reader.model(new Protobuf.Reader(file.load(0, arena)));
            SequencedMap<String, StoredTensor> weights = new LinkedHashMap<>();
            for (String name : graph.weights().keySet()) {
                weights.put(
                        name, Objects.requireNonNull(reader.tensors.get(name)).weight(arena));
            }
            return new OnnxFile(graph, weights);
        } catch (IllegalArgumentException problem) {
            throw new TensorFileException(path, "not a usable ONNX network: " + problem.getMessage(), problem);
        }
    }

    /** Decodes the text of {@link OnnxWriter#definition}, which need not be trusted. */
    static OnnxGraph graph(String definition) {
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(definition);
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException(
                    "expected the definition of an ONNX network in Base64, found another form, perhaps of another"
                            + " version of Gramian; import the ONNX file and train again",
                    unknown);
        }
        try {
            return new Reader(new Source(Path.of(""), Arena.ofAuto(), Map.of()))
                    .model(new Protobuf.Reader(MemorySegment.ofArray(bytes)));
        } catch (TensorFileException impossible) {
            throw new IllegalArgumentException(impossible.getMessage(), impossible);
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

        OnnxGraph model(Protobuf.Reader message) throws TensorFileException {
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
            return graph();
        }

        private static boolean isStandard(String domain) {
            return domain.isEmpty() || domain.equals("ai.onnx");
        }

        private void opset(Protobuf.Reader message) {
            String domain = "";
            long version = 0;
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> domain = message.text();
                    case 2 -> version = message.integer();
                    default -> {}
                }
            }
            opset = isStandard(domain) ? version : opset;
        }

        private void graph(Protobuf.Reader message) throws TensorFileException {
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

        private void node(Protobuf.Reader message) throws TensorFileException {
            if (nodes.size() == OnnxGraph.MAX_NODES) {
                throw new IllegalArgumentException("expected at most " + OnnxGraph.MAX_NODES + " nodes, found more");
            }
            String name = "";
            String operator = "";
            String domain = "";
            List<String> entering = new ArrayList<>();
            List<String> leaving = new ArrayList<>();
            Map<String, Object> attributes = new LinkedHashMap<>();
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> addName(entering, message.text());
                    case 2 -> addName(leaving, message.text());
                    case 3 -> name = message.text();
                    case 4 -> operator = message.text();
                    case 5 -> attribute(message.message(), attributes);
                    case 7 -> domain = message.text();
                    default -> {}
                }
            }
            Object value = attributes.get("value");
            for (Map.Entry<String, Object> attribute : attributes.entrySet()) {
                if (attribute.getValue() instanceof TensorProto tensor) {
                    attribute.setValue(operator.equals("Constant") ? "" : tensor.constant());
                }
            }
            OnnxNode node = new OnnxNode(
                    name, isStandard(domain) ? operator : domain + ":" + operator, entering, leaving, attributes);
            if (leaving.isEmpty() || leaving.getFirst().isEmpty()) {
                throw node.error("expected an output, found none");
            }
            if (node.operator().equals("Constant") && value instanceof TensorProto tensor) {
                add(new TensorProto(node.output(), tensor.type(), tensor.shape(), tensor.data()));
                if (tensor.shape().elements() <= SHORT) {
                    constants.add(node.output());
                }
            } else if (node.operator().equals("Constant")
                    && (attributes.size() != 1
                            || !(attributes.values().iterator().next() instanceof HostTensor))) {
                throw node.error("expected a tensor or numbers as the value, found none");
            } else {
                nodes.add(node);
            }
        }

        private static void addName(List<String> names, String name) {
            if (names.size() == MAX_LIST) {
                throw new IllegalArgumentException(
                        "expected at most " + MAX_LIST + " inputs or outputs of a node, found more");
            }
            names.add(name);
        }

        private void attribute(Protobuf.Reader message, Map<String, Object> attributes) throws TensorFileException {
            String name = "";
            List<Long> integers = new ArrayList<>();
            List<Double> numbers = new ArrayList<>();
            Object value = null;
            long type = 0;
            boolean list = false;
            while (message.next()) {
                switch (message.field()) {
                    case 1 -> name = message.text();
                    case 2 -> floats(message.bytes(), numbers);
                    case 3 -> message.integers(integers, MAX_LIST);
                    case 4 -> value = message.text();
                    case 5 -> value = TensorProto.read(message.message(), source);
                    case 6, 11 ->
                        throw new IllegalArgumentException("attribute " + QuotedText.text(name)
                                + ": found a graph inside a node (If, Loop or Scan), which is not supported; export the"
                                + " network in evaluation mode with fixed control flow");
                    case 7 -> {
                        list = true;
                        floats(message.bytes(), numbers);
                    }
                    case 8 -> {
                        list = true;
                        message.integers(integers, MAX_LIST);
                    }
                    case 20 -> type = message.integer();
                    default -> {}
                }
            }
            boolean whole = numbers.isEmpty() && type != 1;
            double[] values = (whole ? integers : numbers)
                    .stream().mapToDouble(Number::doubleValue).toArray();
            boolean omittedZero = values.length == 0 && (type == 1 || type == 2);
            Shape shape = list || (values.length == 0 && !omittedZero) ? Shape.of(values.length) : Shape.of();
            if (value == null) {
                double[] scalar = omittedZero ? new double[1] : Arrays.copyOf(values, 1);
                value = new HostTensor(whole, shape, shape.rank() == 0 ? scalar : values);
            }
            attributes.put(name, value);
        }

        private static void floats(MemorySegment content, List<Double> target) {
            long count = content.byteSize() / Float.BYTES;
            if (content.byteSize() % Float.BYTES != 0 || target.size() + count > MAX_LIST) {
                throw new IllegalArgumentException("expected at most " + MAX_LIST + " floats in an attribute, found "
                        + content.byteSize() + " bytes");
            }
            for (float value : content.toArray(JAVA_FLOAT_UNALIGNED.withOrder(LITTLE_ENDIAN))) {
                target.add((double) value);
            }
        }

        private static String name(Protobuf.Reader valueInfo) {
            String name = "";
            while (valueInfo.next()) {
                name = valueInfo.field() == 1 ? valueInfo.text() : name;
            }
            return name;
        }

        /** Reads name and sizes of an input: {@code type.tensor_type.shape.dim}. */
        private void input(Protobuf.Reader message) {
            String name = "";
            List<Long> sizes = new ArrayList<>();
            while (message.next()) {
                if (message.field() == 1) {
                    name = message.text();
                } else if (message.field() == 2) {
                    Protobuf.Reader shape = nested(nested(nested(message, 1), 2), 0);
                    while (shape != null && shape.next()) {
                        if (shape.field() == 1) {
                            addSize(shape.message(), sizes);
                        }
                    }
                }
            }
            inputs.put(name, sizes);
        }

        /** Returns the message in the current field, at its first field of a number, or null; at its start for 0. */
        private static Protobuf.@Nullable Reader nested(Protobuf.@Nullable Reader message, int field) {
            if (message == null) {
                return null;
            }
            Protobuf.Reader inner = message.message();
            while (field > 0 && inner.next()) {
                if (inner.field() == field && inner.isDelimited()) {
                    return inner;
                }
            }
            return field == 0 ? inner : null;
        }

        private static void addSize(Protobuf.Reader dimension, List<Long> sizes) {
            long size = -1;
            while (dimension.next()) {
                size = dimension.field() == 1 ? dimension.integer() : size;
            }
            if (sizes.size() == MAX_LIST) {
                throw new IllegalArgumentException("expected at most " + MAX_LIST + " dimensions, found more");
            }
            sizes.add(size <= 0 ? -1 : size);
        }

        /** Gives a node of an older operator set the inputs that were attributes, as constants. */
        private OnnxNode upgraded(OnnxNode node, Map<String, HostTensor> small) {
            List<String> entering = new ArrayList<>(node.inputs());
            Map<String, Object> attributes = new LinkedHashMap<>(node.attributes());
            List<String> moved = INPUTS_ONCE_ATTRIBUTES.getOrDefault(node.operator(), List.of());
            for (int i = 1; i <= moved.size(); i++) {
                if (!node.has(i) && attributes.remove(moved.get(i - 1)) instanceof HostTensor value) {
                    while (entering.size() <= i) {
                        entering.add("");
                    }
                    String name = node.output() + "/" + moved.get(i - 1);
                    if (small.put(name, value) != null) {
                        throw node.error("expected every tensor once, found " + QuotedText.text(name) + " twice");
                    }
                    entering.set(i, name);
                }
            }
            boolean upsample = node.operator().equals("Upsample");
            if (upsample || (node.operator().equals("Resize") && opset < 11 && entering.size() == 2)) {
                entering.add(1, ""); // a region of interest, since operator set 11
                attributes.put("coordinate_transformation_mode", "asymmetric");
                attributes.put("nearest_mode", "floor");
            }
            return new OnnxNode(
                    node.name(), upsample ? "Resize" : node.operator(), entering, node.outputs(), attributes);
        }

        /** Removes the transpose at the start of a TensorFlow network {@code [n, h, w, 3]}: images have channels first. */
        private OnnxGraph.Input channelsFirst(Map.Entry<String, List<Long>> image) {
            List<Long> sizes = image.getValue();
            List<OnnxNode> users = nodes.stream()
                    .filter(node -> node.inputs().contains(image.getKey()))
                    .toList();
            boolean transposed = sizes.size() == 4
                    && sizes.get(1) != 3
                    && sizes.get(3) == 3
                    && users.size() == 1
                    && users.getFirst().operator().equals("Transpose")
                    && Arrays.equals(users.getFirst().integers("perm"), new long[] {0, 3, 1, 2});
            if (!transposed) {
                return new OnnxGraph.Input(image.getKey(), sizes);
            }
            nodes.remove(users.getFirst());
            return new OnnxGraph.Input(
                    users.getFirst().output(), List.of(sizes.get(0), sizes.get(3), sizes.get(1), sizes.get(2)));
        }

        private boolean isConstant(TensorProto tensor) {
            long elements = tensor.shape().elements();
            return source.definition()
                    ? tensor.data().byteSize() > 0 || elements == 0
                    : !tensor.type().isFloating()
                            || elements <= 1
                            || (constants.contains(tensor.name()) && elements <= SHORT);
        }

        /** Selects the image input and the first output, and divides tensors into constants and weights. */
        private OnnxGraph graph() {
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
                if (isConstant(tensor)) {
                    small.put(tensor.name(), tensor.constant());
                } else {
                    shapes.put(tensor.name(), tensor.shape());
                }
            }
            nodes.replaceAll(node -> upgraded(node, small));
            OnnxGraph.Input image = channelsFirst(inputs.firstEntry());
            OnnxGraph graph = new OnnxGraph(
                    Math.toIntExact(Math.clamp(opset, 0, 1000)), image, outputs.getFirst(), nodes, small, shapes);
            Operators.requireSupported(graph.nodes());
            return graph;
        }
    }
}
