package org.gramian.export.proto;

import java.util.List;

/**
 * ONNX's {@code GraphProto}: what is computed.
 *
 * @param name of the whole
 * @param nodes each after those whose results it uses
 * @param constants weights, and numbers of formulas
 * @param inputs what a caller gives
 * @param outputs what a caller gets
 */
public record GraphProto(
        String name,
        List<NodeProto> nodes,
        List<TensorProto> constants,
        List<ValueInfoProto> inputs,
        List<ValueInfoProto> outputs) {
    private static final int NODE = 1;
    private static final int NAME = 2;
    private static final int INITIALIZER = 5;
    private static final int INPUT = 11;
    private static final int OUTPUT = 12;

    public GraphProto {
        nodes = List.copyOf(nodes);
        constants = List.copyOf(constants);
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    Message message() {
        Message message = new Message();
        nodes.forEach(node -> message.nested(NODE, node.message()));
        message.text(NAME, name);
        constants.forEach(constant -> message.nested(INITIALIZER, constant.message()));
        inputs.forEach(input -> message.nested(INPUT, input.message()));
        outputs.forEach(output -> message.nested(OUTPUT, output.message()));
        return message;
    }
}
