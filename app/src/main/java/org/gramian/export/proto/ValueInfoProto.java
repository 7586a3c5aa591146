package org.gramian.export.proto;

import java.util.List;
import org.gramian.export.proto.TensorProto.ElementType;

/**
 * ONNX's {@code ValueInfoProto}: an input or output of a graph, single precision, with the sizes of its axes.
 *
 * @param name under which a caller gives or gets it
 * @param sizes a negative one is open, and called {@code n}
 * @param about a sentence for people
 */
public record ValueInfoProto(String name, List<Long> sizes, String about) {
    /** The name of the axis that may have any size. */
    public static final String OPEN = "n";

    private static final int NAME = 1;
    private static final int TYPE = 2;
    private static final int DOC_STRING = 3;
    private static final int TENSOR_TYPE = 1;
    private static final int ELEM_TYPE = 1;
    private static final int SHAPE = 2;
    private static final int DIM = 1;
    private static final int DIM_VALUE = 1;
    private static final int DIM_PARAM = 2;

    public ValueInfoProto {
        sizes = List.copyOf(sizes);
    }

    Message message() {
        Message shape = new Message();
        for (long size : sizes) {
            Message axis = size < 0 ? new Message().text(DIM_PARAM, OPEN) : new Message().whole(DIM_VALUE, size);
            shape.nested(DIM, axis);
        }
        Message tensor =
                new Message().whole(ELEM_TYPE, ElementType.FLOAT.code()).nested(SHAPE, shape);
        return new Message()
                .text(NAME, name)
                .nested(TYPE, new Message().nested(TENSOR_TYPE, tensor))
                .text(DOC_STRING, about);
    }
}
