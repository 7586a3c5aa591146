package org.gramian.export.proto;

import java.util.List;
import java.util.Set;

/**
 * ONNX's {@code NodeProto}: one operator of the standard set with the names of what enters and what leaves.
 *
 * @param name its own, for people and messages
 * @param operator as {@code MatMul}
 * @param inputs names of constants, of the graph's inputs, or of what earlier nodes gave
 * @param output the one result that is used
 * @param attributes constants of the operator
 */
public record NodeProto(
        String name, String operator, List<String> inputs, String output, List<AttributeProto> attributes) {
    private static final int INPUT = 1;
    private static final int OUTPUT = 2;
    private static final int NAME = 3;
    private static final int OP_TYPE = 4;
    private static final int ATTRIBUTE = 5;

    /**
     * Every operator that a file of this program may have, all of them standard since the oldest set: products, exponentials,
     * what goes element by element, and what only moves numbers. None loops, branches or reads anything.
     */
    public static final Set<String> OPERATORS = Set.of(
            "Abs",
            "Add",
            "ArgMax",
            "AveragePool",
            "Clip",
            "Concat",
            "Conv",
            "Div",
            "Exp",
            "Gather",
            "Gemm",
            "GlobalAveragePool",
            "GlobalMaxPool",
            "Greater",
            "Identity",
            "LRN",
            "Log",
            "MatMul",
            "Max",
            "MaxPool",
            "Mul",
            "Pad",
            "Pow",
            "ReduceSum",
            "Relu",
            "Reshape",
            "Resize",
            "Sign",
            "Slice",
            "Softmax",
            "Sqrt",
            "Sub",
            "Transpose",
            "Where");

    /** @throws IllegalArgumentException if the operator is none of those above */
    public NodeProto {
        if (!OPERATORS.contains(operator)) {
            throw new IllegalArgumentException("expected an operator of " + OPERATORS + ", found " + operator);
        }
        inputs = List.copyOf(inputs);
        attributes = List.copyOf(attributes);
    }

    Message message() {
        Message message = new Message();
        inputs.forEach(input -> message.named(INPUT, input));
        message.text(OUTPUT, output).text(NAME, name).text(OP_TYPE, operator);
        attributes.forEach(attribute -> message.nested(ATTRIBUTE, attribute.message()));
        return message;
    }
}
