package org.gramian.backbone.onnx;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Cursor over the fields of a protocol buffers message in memory; contents are views, not copies.
 *
 * <pre>{@code
 * while (message.next()) {
 *     switch (message.field()) {
 *         case 1 -> name = message.text();
 *         default -> {}
 *     }
 * }
 * }</pre>
 *
 * <p>Every method throws {@link IllegalArgumentException} where the bytes are not a valid message.
 */
final class ProtoMessage {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAX_TEXT = 1 << 16;

    private final MemorySegment bytes;
    private long position;
    private int field;
    private long number;
    private MemorySegment content = MemorySegment.NULL;
    private Wire wire = Wire.VARINT;

    /** Encodings of a field. */
    enum Wire {
        VARINT,
        FIXED64,
        DELIMITED,
        FIXED32
    }

    ProtoMessage(MemorySegment bytes) {
        this.bytes = bytes;
    }

    /** Reads the next field; returns false at the end. */
    boolean next() {
        if (position == bytes.byteSize()) {
            return false;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        wire = switch ((int) (tag & 7)) {
            case 0 -> Wire.VARINT;
            case 1 -> Wire.FIXED64;
            case 2 -> Wire.DELIMITED;
            case 5 -> Wire.FIXED32;
            default -> throw new IllegalArgumentException("found a field of wire type " + (tag & 7));
        };
        if (tag >>> 3 == 0 || tag >>> 3 > 1 << 29) {
            throw new IllegalArgumentException("found the field number " + (tag >>> 3));
        }
        switch (wire) {
            case VARINT -> number = varint();
            case FIXED64 -> content = take(Long.BYTES);
            case FIXED32 -> content = take(Integer.BYTES);
            case DELIMITED -> content = take(varint());
        }
        return true;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = take(1).get(ValueLayout.JAVA_BYTE, 0);
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("found a number of more than 10 bytes");
    }

    private MemorySegment take(long count) {
        if (count < 0 || count > bytes.byteSize() - position) {
            throw new IllegalArgumentException(
                    "a field of " + Long.toUnsignedString(count) + " bytes ends beyond its message");
        }
        MemorySegment taken = bytes.asSlice(position, count);
        position += count;
        return taken;
    }

    /** Returns the number of the field. */
    int field() {
        return field;
    }

    /** Returns the encoding of the field. */
    Wire wire() {
        return wire;
    }

    /** Returns an integer. */
    long whole() {
        require(Wire.VARINT);
        return number;
    }

    /** Returns a float32. */
    float real() {
        require(Wire.FIXED32);
        return Float.intBitsToFloat(content.get(INT, 0));
    }

    /** Returns the bytes of a delimited or fixed field. */
    MemorySegment content() {
        if (wire == Wire.VARINT) {
            require(Wire.DELIMITED);
        }
        return content;
    }

    /** Returns a text. */
    String text() {
        require(Wire.DELIMITED);
        if (content.byteSize() > MAX_TEXT) {
            throw new IllegalArgumentException(
                    "expected a text of at most " + MAX_TEXT + " bytes, found " + content.byteSize());
        }
        return new String(content.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** Returns a nested message. */
    ProtoMessage message() {
        require(Wire.DELIMITED);
        return new ProtoMessage(content);
    }

    /** Adds the integers of a repeated field, packed or not. */
    void wholes(NumberList target) {
        if (wire == Wire.VARINT) {
            target.add(number);
            return;
        }
        ProtoMessage packed = message();
        while (packed.position < packed.bytes.byteSize()) {
            target.add(packed.varint());
        }
    }

    private void require(Wire expected) {
        if (wire != expected) {
            throw new IllegalArgumentException("expected field " + field + " as " + expected + ", found " + wire);
        }
    }

    /** Growing list of integers with a limit. */
    static final class NumberList {
        private final int limit;
        private long[] values = new long[8];
        private int size;

        NumberList(int limit) {
            this.limit = limit;
        }

        void add(long value) {
            if (size == limit) {
                throw new IllegalArgumentException("expected at most " + limit + " integers in a list, found more");
            }
            if (size == values.length) {
                values = Arrays.copyOf(values, 2 * size);
            }
            values[size++] = value;
        }

        long[] toArray() {
            return Arrays.copyOf(values, size);
        }
    }
}
