package org.gramian.export.proto;

import java.util.Arrays;
import java.util.List;

/** ONNX's {@code AttributeProto}: a named constant of an operator, as the stride of a convolution. */
public sealed interface AttributeProto {
    int NAME = 1;
    int TYPE = 20;

    /** Name of the attribute, as the operator's definition has it. */
    String name();

    /** The message of this attribute. */
    Message message();

    /** A number; field {@code f}. */
    record Real(String name, float value) implements AttributeProto {
        @Override
        public Message message() {
            return new Message().text(NAME, name).real(2, value).whole(TYPE, 1);
        }
    }

    /** A whole number; field {@code i}. */
    record Whole(String name, long value) implements AttributeProto {
        @Override
        public Message message() {
            return new Message().text(NAME, name).whole(3, value).whole(TYPE, 2);
        }
    }

    /** Whole numbers; field {@code ints}. */
    record Wholes(String name, List<Long> values) implements AttributeProto {
        public Wholes {
            values = List.copyOf(values);
        }

        @Override
        public Message message() {
            return new Message().text(NAME, name).wholes(8, values).whole(TYPE, 7);
        }
    }

    /** A word; field {@code s}. */
    record Text(String name, String value) implements AttributeProto {
        @Override
        public Message message() {
            return new Message().text(NAME, name).text(4, value).whole(TYPE, 3);
        }
    }

    static AttributeProto of(String name, double value) {
        return new Real(name, (float) value);
    }

    static AttributeProto of(String name, long value) {
        return new Whole(name, value);
    }

    static AttributeProto of(String name, String value) {
        return new Text(name, value);
    }

    static AttributeProto of(String name, long[] values) {
        return new Wholes(name, Arrays.stream(values).boxed().toList());
    }
}
