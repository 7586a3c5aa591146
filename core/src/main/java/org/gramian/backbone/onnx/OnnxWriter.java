package org.gramian.backbone.onnx;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.gramian.basis.Protobuf.Writer;

/**
 * Encoder of ONNX messages. Equal content gives equal bytes.
 *
 * @see <a href="https://github.com/onnx/onnx/blob/main/onnx/onnx.proto">the message definition</a>
 */
public final class OnnxWriter {
    private static final ValueLayout.OfDouble DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private OnnxWriter() {}

    /**
     * {@code ValueInfoProto}: an input or output of a graph in float32.
     *
     * @param sizes of its dimensions; a negative one is dynamic, and named {@code n}
     */
    public record ValueInfo(String name, List<Long> sizes, String about) {
        private Writer message() {
            Writer shape = new Writer();
            for (long size : sizes) {
                shape.message(1, size < 0 ? new Writer().text(2, "n") : new Writer().integer(1, size));
            }
            Writer tensor =
                    new Writer().integer(1, TensorProto.Type.FLOAT.code()).message(2, shape);
            return new Writer()
                    .text(1, name)
                    .message(2, new Writer().message(1, tensor))
                    .text(3, about);
        }
    }

    public static Writer model(Writer graph, int opset, Map<String, String> metadata) {
        int irVersion = opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10;
        Writer model = new Writer().integer(1, irVersion).text(2, "gramian").message(7, graph);
        model.message(8, new Writer().integer(2, opset));
        metadata.forEach(
                (key, value) -> model.message(14, new Writer().text(1, key).text(2, value)));
        return model;
    }

    /** Encodes a graph with nodes in topological order and encoded tensors. */
    public static Writer graph(
            List<OnnxNode> nodes, List<Writer> tensors, List<ValueInfo> inputs, List<ValueInfo> outputs) {
        Writer graph = new Writer();
        nodes.forEach(node -> graph.message(1, node(node)));
        graph.text(2, "gramian");
        tensors.forEach(tensor -> graph.message(5, tensor));
        inputs.forEach(input -> graph.message(11, input.message()));
        outputs.forEach(output -> graph.message(12, output.message()));
        return graph;
    }

    private static Writer node(OnnxNode node) {
        Writer message = new Writer();
        node.inputs().forEach(input -> message.text(1, input));
        node.outputs().forEach(output -> message.text(2, output));
        message.text(3, node.name()).text(4, node.operator());
        node.attributes().forEach((name, value) -> message.message(5, attribute(name, value)));
        return message;
    }

    private static Writer attribute(String name, Object value) {
        Writer message = new Writer().text(1, name);
        if (!(value instanceof HostTensor numbers)) {
            return message.text(4, value.toString()).integer(20, 3);
        }
        boolean scalar = numbers.shape().rank() == 0;
        if (name.equals("value")) {
            return message.message(5, tensor("", numbers)).integer(20, 4);
        }
        for (double number : numbers.values()) {
            if (numbers.whole()) {
                message.integer(scalar ? 3 : 8, (long) number);
            } else {
                message.float32(scalar ? 2 : 7, (float) number);
            }
        }
        return message.integer(20, (numbers.whole() ? 2 : 1) + (scalar ? 0 : 5));
    }

    /** Encodes a constant: integers in int64, numbers in float32 if that is exact, else in float64. */
    public static Writer tensor(String name, HostTensor value) {
        if (value.whole()) {
            return header(name, value.shape().sizes(), TensorProto.Type.INT64).integers(7, value.integers());
        }
        double[] values = value.values();
        if (Arrays.stream(values).allMatch(number -> Double.compare((float) number, number) == 0)) {
            return floats(name, value.shape().sizes(), values);
        }
        MemorySegment bytes = MemorySegment.ofArray(new byte[Double.BYTES * values.length]);
        for (int i = 0; i < values.length; i++) {
            bytes.set(DOUBLE, (long) Double.BYTES * i, values[i]);
        }
        return header(name, value.shape().sizes(), TensorProto.Type.DOUBLE).bytes(9, bytes);
    }

    public static Writer floats(String name, long[] sizes, double... values) {
        float[] single = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            single[i] = (float) values[i];
        }
        return floats(name, sizes, MemorySegment.ofArray(single));
    }

    /** Encodes a tensor in float32, little-endian; the memory must stay readable until the file is written. */
    public static Writer floats(String name, long[] sizes, MemorySegment data) {
        long elements = Arrays.stream(sizes).reduce(1, Math::multiplyExact);
        if (data.byteSize() != elements * Float.BYTES) {
            throw new IllegalArgumentException("constant " + name + ": expected " + elements + " values for the shape "
                    + Arrays.toString(sizes) + ", found " + data.byteSize() + " bytes");
        }
        return header(name, sizes, TensorProto.Type.FLOAT).bytes(9, data);
    }

    /** Encodes truth values, 0 or not. */
    public static Writer booleans(String name, HostTensor value) {
        return header(name, value.shape().sizes(), TensorProto.Type.BOOL).integers(5, value.integers());
    }

    private static Writer header(String name, long[] sizes, TensorProto.Type type) {
        return new Writer().integers(1, sizes).integer(2, type.code()).text(8, name);
    }

    /** Encodes a graph as an ONNX file in Base64 whose weights have names and sizes, but no elements. */
    static String definition(OnnxGraph graph) {
        List<Writer> tensors = new ArrayList<>();
        graph.constants().forEach((name, value) -> tensors.add(tensor(name, value)));
        graph.weights().forEach((name, shape) -> tensors.add(header(name, shape.sizes(), TensorProto.Type.FLOAT)));
        Writer content = graph(
                graph.nodes(),
                tensors,
                List.of(new ValueInfo(graph.input().name(), graph.input().sizes(), "")),
                List.of(new ValueInfo(graph.output(), List.of(), "")));
        return Base64.getEncoder()
                .encodeToString(model(content, graph.opset(), Map.of()).toBytes());
    }
}
