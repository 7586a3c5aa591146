package org.gramian.basis;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Wire format of protocol buffers, read and written field by field: ONNX files and the event files of TensorBoard.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
public final class Protobuf {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int DELIMITED = 2;
    private static final int FIXED32 = 5;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);

    private Protobuf() {}

    /**
     * Cursor over the fields of a message in memory; contents are views, not copies.
     *
     * <p>Every method throws {@link IllegalArgumentException} where the bytes are not a valid message.
     */
    public static final class Reader {
        private static final int MAX_TEXT = 1 << 16;
        private static final int MAX_FIELD = (1 << 29) - 1;

        private final MemorySegment message;
        private long position;
        private int field;
        private int wire;
        private long number;
        private MemorySegment content = MemorySegment.NULL;

        public Reader(MemorySegment message) {
            this.message = message;
        }

        /** Reads the next field; returns false at the end. */
        public boolean next() {
            if (position == message.byteSize()) {
                return false;
            }
            long tag = varint();
            if (tag >>> 3 == 0 || tag >>> 3 > MAX_FIELD) {
                throw new IllegalArgumentException("found the field number " + (tag >>> 3));
            }
            field = (int) (tag >>> 3);
            wire = (int) (tag & 7);
            switch (wire) {
                case VARINT -> number = varint();
                case FIXED64 -> content = take(Long.BYTES);
                case DELIMITED -> content = take(varint());
                case FIXED32 -> content = take(Integer.BYTES);
                default -> throw new IllegalArgumentException("found a field of wire type " + wire);
            }
            return true;
        }

        private long varint() {
            long value = 0;
            for (int shift = 0; shift < 64; shift += 7) {
                if (position == message.byteSize()) {
                    throw new IllegalArgumentException("a number ends beyond its message");
                }
                byte next = message.get(ValueLayout.JAVA_BYTE, position++);
                value |= (next & 0x7FL) << shift;
                if (next >= 0) {
                    return value;
                }
            }
            throw new IllegalArgumentException("found a number of more than 10 bytes");
        }

        private MemorySegment take(long count) {
            if (count < 0 || count > message.byteSize() - position) {
                throw new IllegalArgumentException(
                        "a field of " + Long.toUnsignedString(count) + " bytes ends beyond its message");
            }
            MemorySegment taken = message.asSlice(position, count);
            position += count;
            return taken;
        }

        private void require(int expected) {
            if (wire != expected) {
                throw new IllegalArgumentException(
                        "expected field " + field + " of wire type " + expected + ", found " + wire);
            }
        }

        /** Returns the number of the field. */
        public int field() {
            return field;
        }

        /** Returns whether the field has bytes: a text, a message or a packed list. */
        public boolean isDelimited() {
            return wire == DELIMITED;
        }

        public long integer() {
            require(VARINT);
            return number;
        }

        public float float32() {
            require(FIXED32);
            return Float.intBitsToFloat(content.get(INT, 0));
        }

        /** Returns the bytes of a delimited or fixed field. */
        public MemorySegment bytes() {
            if (wire == VARINT) {
                require(DELIMITED);
            }
            return content;
        }

        /** Returns a text of at most 64 KiB. */
        public String text() {
            return text(MAX_TEXT);
        }

        /** Returns a text of at most so many bytes. */
        public String text(int limit) {
            require(DELIMITED);
            if (content.byteSize() > limit) {
                throw new IllegalArgumentException(
                        "expected a text of at most " + limit + " bytes, found " + content.byteSize());
            }
            return new String(content.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
        }

        public Reader message() {
            require(DELIMITED);
            return new Reader(content);
        }

        /** Adds the integers of a repeated field, packed or not, to a list of at most so many. */
        public void integers(List<Long> target, int limit) {
            if (wire == VARINT) {
                add(target, number, limit);
                return;
            }
            Reader packed = message();
            while (packed.position < packed.message.byteSize()) {
                add(target, packed.varint(), limit);
            }
        }

        private static void add(List<Long> target, long value, int limit) {
            if (target.size() == limit) {
                throw new IllegalArgumentException("expected at most " + limit + " integers in a list, found more");
            }
            target.add(value);
        }
    }

    /**
     * Encoder of a message: fields in the order in which they are added.
     *
     * <p>A nested message must be complete when it is added. Large contents are not copied: they must stay readable
     * until the message is written.
     */
    public static final class Writer {
        private static final int COPIED_BYTES = 1 << 12;
        private static final int CHUNK_BYTES = 1 << 16;

        private final List<MemorySegment> parts = new ArrayList<>();
        private ByteArrayOutputStream last = new ByteArrayOutputStream();
        private long partBytes;

        /** Returns the encoded size in bytes. */
        public long size() {
            return partBytes + last.size();
        }

        private void varint(long value) {
            long rest = value;
            while ((rest & ~0x7FL) != 0) {
                last.write((int) ((rest & 0x7F) | 0x80));
                rest >>>= 7;
            }
            last.write((int) rest);
        }

        private void fixed(long bits, int bytes) {
            for (int i = 0; i < bytes; i++) {
                last.write((int) (bits >>> (Byte.SIZE * i)));
            }
        }

        private void tag(int number, int wire) {
            varint((long) number << 3 | wire);
        }

        public Writer integer(int number, long value) {
            tag(number, VARINT);
            varint(value);
            return this;
        }

        /** Adds a packed list. */
        public Writer integers(int number, long[] values) {
            Writer packed = new Writer();
            for (long value : values) {
                packed.varint(value);
            }
            return message(number, packed);
        }

        public Writer float32(int number, float value) {
            tag(number, FIXED32);
            fixed(Float.floatToRawIntBits(value), Float.BYTES);
            return this;
        }

        public Writer float64(int number, double value) {
            tag(number, FIXED64);
            fixed(Double.doubleToRawLongBits(value), Double.BYTES);
            return this;
        }

        public Writer text(int number, String value) {
            return bytes(number, MemorySegment.ofArray(value.getBytes(StandardCharsets.UTF_8)));
        }

        public Writer bytes(int number, MemorySegment content) {
            tag(number, DELIMITED);
            varint(content.byteSize());
            append(content);
            return this;
        }

        public Writer message(int number, Writer nested) {
            tag(number, DELIMITED);
            varint(nested.size());
            nested.parts.forEach(this::append);
            last.writeBytes(nested.last.toByteArray());
            return this;
        }

        private void append(MemorySegment content) {
            if (content.byteSize() <= COPIED_BYTES) {
                last.writeBytes(content.toArray(ValueLayout.JAVA_BYTE));
                return;
            }
            byte[] before = last.toByteArray();
            parts.add(MemorySegment.ofArray(before));
            parts.add(content);
            partBytes = Math.addExact(partBytes, before.length + content.byteSize());
            last = new ByteArrayOutputStream();
        }

        public byte[] toBytes() {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try {
                write(bytes);
            } catch (IOException impossible) {
                throw new UncheckedIOException(impossible);
            }
            return bytes.toByteArray();
        }

        /** Writes all fields. */
        public void write(OutputStream out) throws IOException {
            byte[] chunk = new byte[CHUNK_BYTES]; // a segment of a float array has no byte buffer view
            for (MemorySegment part : parts) {
                for (long from = 0; from < part.byteSize(); from += chunk.length) {
                    int count = (int) Math.min(chunk.length, part.byteSize() - from);
                    MemorySegment.copy(part, ValueLayout.JAVA_BYTE, from, chunk, 0, count);
                    out.write(chunk, 0, count);
                }
            }
            last.writeTo(out);
        }
    }
}
