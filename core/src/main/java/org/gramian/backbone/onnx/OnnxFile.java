package org.gramian.backbone.onnx;

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
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.IntStream;
import org.gramian.backbone.onnx.TensorProto.Source;
import org.gramian.basis.Protobuf.Message;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFileException;

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

    /** Integers of all tensors, 128 MiB as doubles. */
    private static final long MAX_CONSTANT_ELEMENTS = 1 << 24;

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

    /** Reads a file; its weights live as long as the arena. */
    public static OnnxFile read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            if (file.size() > MAX_BYTES) {
                throw new TensorFileException(
                        path, "expected an ONNX file of less than 2 GiB, found " + file.size() + " bytes");
            }
            Reader reader = new Reader(new Source(path, arena, new HashMap<>()));
            OnnxGraph graph = reader.model(new Message(file.load(0, arena)));
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
                    .model(new Message(MemorySegment.ofArray(bytes)));
        } catch (TensorFileException impossible) {
            throw new IllegalArgumentException(impossible.getMessage(), impossible);
        }
    }

    private static final class Reader {
        private final Source source;
        private final List<OnnxNode> nodes = new ArrayList<>();
        private final Map<String, TensorProto> tensors = new LinkedHashMap<>();
        private final Set<String> constants = new HashSet<>();
        private long opset;
        private long constantElements;

        Reader(Source source) {
            this.source = source;
        }

        OnnxGraph model(Message model) throws TensorFileException {
            if (model.has(25)) {
                throw new IllegalArgumentException(
                        "expected operators only, found functions of the file's own; export with inlined functions");
            }
            if (model.count(7) != 1) {
                throw new IllegalArgumentException(
                        "expected one graph, found " + model.count(7) + "; is this an ONNX file?");
            }
            model.messages(8)
                    .filter(set -> isStandard(set.text(1)))
                    .forEach(set -> opset = Math.clamp(set.integer(2, 0), 0, 1000));
            return graph(model.message(7));
        }

        private static boolean isStandard(String domain) {
            return domain.isEmpty() || domain.equals("ai.onnx");
        }

        /** Reads {@code GraphProto}: the image input, the first output, and tensors as constants or weights. */
        private OnnxGraph graph(Message graph) throws TensorFileException {
            if (graph.has(15)) {
                throw new IllegalArgumentException(
                        "expected dense tensors, found a sparse initializer; export dense weights");
            }
            requireAtMost(OnnxGraph.MAX_NODES, graph.count(1), "nodes");
            requireAtMost(OnnxGraph.MAX_NODES, graph.count(5), "tensors");
            for (Message node : (Iterable<Message>) graph.messages(1)::iterator) {
                node(node);
            }
            for (Message tensor : (Iterable<Message>) graph.messages(5)::iterator) {
                add(TensorProto.read(tensor, source));
            }
            SequencedMap<String, List<Long>> inputs = new LinkedHashMap<>();
            graph.messages(11).forEach(input -> inputs.put(input.text(1), sizes(input)));
            inputs.keySet().removeAll(tensors.keySet()); // before IR version 4 initializers are inputs too
            if (inputs.size() != 1) {
                throw new IllegalArgumentException("expected one input, the images, found " + inputs.size() + " "
                        + inputs.keySet().stream()
                                .limit(5)
                                .map(QuotedText::bare)
                                .toList());
            }
            String output = graph.messages(12)
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("expected an output, found none"))
                    .text(1);
            for (OnnxNode node : nodes) {
                if (OPERATORS_WITH_SIZES.contains(node.operator())) {
                    node.inputs().stream()
                            .skip(node.operator().equals("Range") ? 0 : 1)
                            .forEach(constants::add);
                }
            }
            SequencedMap<String, HostTensor> small = new LinkedHashMap<>();
            SequencedMap<String, Shape> shapes = new LinkedHashMap<>();
            Set<String> used = new HashSet<>();
            nodes.forEach(node -> used.addAll(node.inputs()));
            tensors.keySet().retainAll(used);
            for (TensorProto tensor : tensors.values()) {
                if (isConstant(tensor)) {
                    small.put(tensor.name(), constant(tensor));
                } else {
                    shapes.put(tensor.name(), tensor.shape());
                }
            }
            nodes.replaceAll(node -> upgraded(node, small));
            OnnxGraph.Input image = channelsFirst(inputs.firstEntry());
            OnnxGraph result = new OnnxGraph((int) opset, image, output, nodes, small, shapes);
            Operators.requireSupported(result.nodes());
            return result;
        }

        /** Returns a constant in doubles; many may share one part of an external file. */
        private HostTensor constant(TensorProto tensor) {
            HostTensor constant = tensor.constant();
            constantElements += constant.values().length;
            if (constantElements > MAX_CONSTANT_ELEMENTS) {
                throw new IllegalArgumentException(
                        "expected at most " + MAX_CONSTANT_ELEMENTS + " integers in all tensors, found more");
            }
            return constant;
        }

        private static void requireAtMost(int limit, int count, String what) {
            if (count > limit) {
                throw new IllegalArgumentException("expected at most " + limit + " " + what + ", found " + count);
            }
        }

        /** Reads sizes of an input from {@code type.tensor_type.shape.dim}; −1 where dynamic. */
        private static List<Long> sizes(Message input) {
            Message shape = input.message(2).message(1).message(2);
            requireAtMost(MAX_LIST, shape.count(1), "dimensions");
            return shape.messages(1)
                    .map(dimension -> dimension.integer(1, 0) <= 0 ? -1 : dimension.integer(1, 0))
                    .toList();
        }

        private boolean isConstant(TensorProto tensor) {
            long elements = tensor.shape().elements();
            return source.definition()
                    ? tensor.data().byteSize() > 0 || elements == 0
                    : !tensor.type().isFloating()
                            || elements <= 1
                            || (constants.contains(tensor.name()) && elements <= SHORT);
        }

        private void add(TensorProto tensor) {
            if (tensors.put(tensor.name(), tensor) != null) {
                throw new IllegalArgumentException(
                        "expected every tensor once, found " + QuotedText.text(tensor.name()) + " twice");
            }
        }

        /** Reads {@code NodeProto}; the tensor of a Constant becomes one of the graph. */
        private void node(Message message) throws TensorFileException {
            requireAtMost(MAX_LIST, Math.max(message.count(1), message.count(2)), "inputs or outputs of a node");
            String operator = message.text(4);
            boolean constant = operator.equals("Constant");
            Map<String, Object> attributes = new LinkedHashMap<>();
            Optional<TensorProto> value = Optional.empty();
            for (Message attribute : (Iterable<Message>) message.messages(5)::iterator) {
                String name = attribute.text(1);
                if (attribute.has(5)) {
                    TensorProto tensor = TensorProto.read(attribute.message(5), source);
                    value = constant && name.equals("value") ? Optional.of(tensor) : value;
                    attributes.put(name, constant ? "" : constant(tensor));
                } else {
                    attributes.put(name, attribute(name, attribute));
                }
            }
            String type = isStandard(message.text(7)) ? operator : message.text(7) + ":" + operator;
            OnnxNode node = new OnnxNode(message.text(3), type, message.texts(1), message.texts(2), attributes);
            if (node.outputs().isEmpty() || node.output().isEmpty()) {
                throw node.error("expected an output, found none");
            }
            if (value.isPresent()) {
                TensorProto tensor = value.get();
                add(new TensorProto(node.output(), tensor.type(), tensor.shape(), tensor.data()));
                if (tensor.shape().elements() <= SHORT) {
                    constants.add(node.output());
                }
            } else if (constant
                    && (attributes.size() != 1
                            || !(attributes.values().iterator().next() instanceof HostTensor))) {
                throw node.error("expected a tensor or numbers as the value, found none");
            } else {
                nodes.add(node);
            }
        }

        /** Reads {@code AttributeProto}: a text or numbers; a zero may be omitted. */
        private static Object attribute(String name, Message message) {
            if (message.has(6) || message.has(11)) {
                throw new IllegalArgumentException("attribute " + QuotedText.text(name)
                        + ": found a graph inside a node (If, Loop or Scan), which is not supported; export the"
                        + " network in evaluation mode with fixed control flow");
            }
            if (message.has(4)) {
                return message.text(4);
            }
            long type = message.integer(20, 0);
            boolean whole = !message.has(2) && !message.has(7) && type != 1;
            if (message.has(7) || message.has(8) || !(message.has(2) || message.has(3) || type == 1 || type == 2)) {
                double[] values = whole ? doubles(message.integers(8, MAX_LIST)) : doubles(message.floats(7, MAX_LIST));
                return new HostTensor(whole, Shape.of(values.length), values);
            }
            double[] scalar = whole ? doubles(message.integers(3, 1)) : doubles(message.floats(2, 1));
            return new HostTensor(whole, Shape.of(), Arrays.copyOf(scalar, 1));
        }

        private static double[] doubles(long[] values) {
            return Arrays.stream(values).asDoubleStream().toArray();
        }

        private static double[] doubles(float[] values) {
            return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
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
    }
}
