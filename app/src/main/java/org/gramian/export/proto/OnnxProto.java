package org.gramian.export.proto;

import com.google.protobuf.CodedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The messages of ONNX that a classifier needs, with the field numbers of {@code onnx.proto3}.
 *
 * <p>Equal models give equal bytes.
 */
public final class OnnxProto {
    /**
     * Operators that an exported file may have: matrix products, exponentials, element-wise operators, and moves. None loops,
     * branches or reads files. All are standard since {@link Model#OLDEST_OPSET}.
     */
    public static final Set<String> OPERATORS =
            Set.of(("Abs Add ArgMax AveragePool BatchNormalization Clip Concat Conv Div Erf Exp Expand Gather Gemm"
                            + " GlobalAveragePool GlobalMaxPool Greater HardSigmoid Identity LRN LeakyRelu Log MatMul Max"
                            + " MaxPool Mul Pad Pow ReduceSum Relu Reshape Resize Sigmoid Sign Slice Softmax Sqrt Sub Tanh"
                            + " Transpose Where")
                    .split(" ", -1));

    private OnnxProto() {}

    /**
     * {@code AttributeProto}: a named constant of an operator, e.g. the stride of a convolution.
     *
     * @param name in the definition of the operator
     */
    public record Attribute(String name, Message message) {
        private static Message named(String name) {
            return new Message().text(1, name);
        }

        private Attribute(String name, Message message, int type) {
            this(name, message.whole(20, type));
        }

        public static Attribute of(String name, double value) {
            return new Attribute(name, named(name).real(2, (float) value), 1);
        }

        public static Attribute of(String name, long value) {
            return new Attribute(name, named(name).whole(3, value), 2);
        }

        public static Attribute of(String name, String value) {
            return new Attribute(name, named(name).text(4, value), 3);
        }

        public static Attribute of(String name, long[] values) {
            return new Attribute(
                    name, named(name).wholes(8, Arrays.stream(values).boxed().toList()), 7);
        }
    }

    /**
     * {@code NodeProto}: one operator with the names of its inputs and its output.
     *
     * @param name for messages
     * @param operator one of {@link #OPERATORS}
     * @param inputs names of constants, inputs of the graph, or outputs of earlier nodes
     */
    public record Node(String name, String operator, List<String> inputs, String output, List<Attribute> attributes) {
        public Node {
            if (!OPERATORS.contains(operator)) {
                throw new IllegalArgumentException("expected an operator of " + OPERATORS + ", found " + operator);
            }
            inputs = List.copyOf(inputs);
            attributes = List.copyOf(attributes);
        }

        private Message message() {
            Message message = new Message();
            inputs.forEach(input -> message.named(1, input));
            message.text(2, output).text(3, name).text(4, operator);
            attributes.forEach(attribute -> message.nested(5, attribute.message()));
            return message;
        }
    }

    /** Element types of tensors. */
    public enum ElementType {
        FLOAT(1, Float.BYTES),
        INT64(7, Long.BYTES);

        private final int code;
        private final int bytes;

        ElementType(int code, int bytes) {
            this.code = code;
            this.bytes = bytes;
        }
    }

    /**
     * {@code TensorProto}: a named constant, little-endian in row-major order.
     *
     * @param sizes of its axes; none for a scalar
     */
    public record Tensor(String name, ElementType type, List<Long> sizes, MemorySegment content) {
        /** @throws IllegalArgumentException if the content does not fit the sizes */
        public Tensor {
            sizes = List.copyOf(sizes);
            long elements = sizes.stream().reduce(1L, Math::multiplyExact);
            if (content.byteSize() != elements * type.bytes) {
                throw new IllegalArgumentException("constant " + name + ": expected " + elements + " values of " + type
                        + " for the shape " + sizes + ", found " + content.byteSize() + " bytes");
            }
        }

        public static Tensor of(String name, List<Long> sizes, float... values) {
            return new Tensor(name, OnnxProto.ElementType.FLOAT, sizes, MemorySegment.ofArray(values));
        }

        public static Tensor of(String name, long... values) {
            return new Tensor(name, ElementType.INT64, List.of((long) values.length), MemorySegment.ofArray(values));
        }

        private Message message() {
            return new Message()
                    .wholes(1, sizes)
                    .whole(2, type.code)
                    .text(8, name)
                    .bytes(9, content);
        }
    }

    /**
     * {@code ValueInfoProto}: an input or output of a graph in float32.
     *
     * @param sizes of its axes; a negative one is dynamic, and named {@code n}
     * @param about documentation
     */
    public record ValueInfo(String name, List<Long> sizes, String about) {
        public ValueInfo {
            sizes = List.copyOf(sizes);
        }

        private Message message() {
            Message shape = new Message();
            for (long size : sizes) {
                shape.nested(1, size < 0 ? new Message().text(2, "n") : new Message().whole(1, size));
            }
            Message tensor =
                    new Message().whole(1, OnnxProto.ElementType.FLOAT.code).nested(2, shape);
            return new Message()
                    .text(1, name)
                    .nested(2, new Message().nested(1, tensor))
                    .text(3, about);
        }
    }

    /**
     * {@code GraphProto}.
     *
     * @param nodes in topological order
     * @param constants weights, and constants of formulas
     */
    public record Graph(
            String name, List<Node> nodes, List<Tensor> constants, List<ValueInfo> inputs, List<ValueInfo> outputs) {
        public Graph {
            nodes = List.copyOf(nodes);
            constants = List.copyOf(constants);
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }

        private Message message() {
            Message message = new Message();
            nodes.forEach(node -> message.nested(1, node.message()));
            message.text(2, name);
            constants.forEach(constant -> message.nested(5, constant.message()));
            inputs.forEach(input -> message.nested(11, input.message()));
            outputs.forEach(output -> message.nested(12, output.message()));
            return message;
        }
    }

    /**
     * {@code ModelProto}: a file.
     *
     * @param opset version of the standard operators
     * @param metadata text by key
     */
    public record Model(Graph graph, int opset, Map<String, String> metadata) {
        /** The oldest supported operator set: from 13 on, sums take their axes as an input. */
        public static final int OLDEST_OPSET = 13;

        /** The newest tested operator set. */
        public static final int NEWEST_OPSET = 21;

        /** Limit of protocol buffers. */
        public static final long MAX_BYTES = Integer.MAX_VALUE;

        /** @throws IllegalArgumentException if the operator set is not supported */
        public Model {
            metadata = new LinkedHashMap<>(metadata);
            if (opset < OLDEST_OPSET || opset > NEWEST_OPSET) {
                throw new IllegalArgumentException("expected an ONNX operator set from " + OLDEST_OPSET + " to "
                        + NEWEST_OPSET + ", found " + opset);
            }
        }

        private Message message() {
            int irVersion = opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10;
            Message message = new Message().whole(1, irVersion).text(2, "gramian");
            message.nested(7, graph.message());
            message.nested(8, new Message().whole(2, opset));
            metadata.forEach((key, value) ->
                    message.nested(14, new Message().text(1, key).text(2, value)));
            return message;
        }

        /**
         * Writes the file.
         *
         * @throws IllegalArgumentException if it exceeds {@link #MAX_BYTES}
         */
        public void write(OutputStream stream) throws IOException {
            Message message = message();
            if (message.size() > MAX_BYTES) {
                throw new IllegalArgumentException("expected at most 2 GiB for an ONNX file, found "
                        + message.size()
                        + " bytes; train with a smaller descriptor, e.g. with conv:256 or spd:128, or with fewer"
                        + " classes");
            }
            CodedOutputStream out = CodedOutputStream.newInstance(stream, 1 << 16);
            message.write(out);
            out.flush();
        }
    }
}
