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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Wire format of protocol buffers, read and written: ONNX files.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
public final class Protobuf {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int DELIMITED = 2;
    private static final int FIXED32 = 5;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(LITTLE_ENDIAN);

    private Protobuf() {}

    /**
     * Fields of a message in memory; contents are views, not copies.
     *
     * <p>Every method throws {@link IllegalArgumentException} where the bytes are not a valid message.
     */
    public static final class Message {
        private static final int MAX_TEXT = 1 << 16;
        private static final int MAX_NUMBER = (1 << 29) - 1;
        private static final int MAX_FIELDS = 1 << 21;

        private final Map<Integer, List<Field>> fields = new HashMap<>();

        /** Decodes the fields, but not those of nested messages. */
        public Message(MemorySegment message) {
            Cursor cursor = new Cursor(message);
            for (int count = 0; cursor.hasNext(); count++) {
                Field field = cursor.field();
                if (count == MAX_FIELDS) {
                    throw new IllegalArgumentException("found more than " + MAX_FIELDS + " fields in a message");
                }
                fields.computeIfAbsent(field.number, _ -> new ArrayList<>()).add(field);
            }
        }

        private record Field(int number, int wire, long integer, MemorySegment content) {
            long asInteger() {
                require(wire == VARINT);
                return integer;
            }

            MemorySegment bytes() {
                require(wire != VARINT);
                return content;
            }

            String text(int limit) {
                require(wire == DELIMITED);
                if (content.byteSize() > limit) {
                    throw new IllegalArgumentException(
                            "expected a text of at most " + limit + " bytes, found " + content.byteSize());
                }
                return new String(content.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
            }

            Message message() {
                require(wire == DELIMITED);
                return new Message(content);
            }

            private void require(boolean fits) {
                if (!fits) {
                    throw new IllegalArgumentException("field " + number + ": found the wire type " + wire);
                }
            }
        }

        private static final class Cursor {
            private final MemorySegment bytes;
            private long position;

            Cursor(MemorySegment bytes) {
                this.bytes = bytes;
            }

            boolean hasNext() {
                return position < bytes.byteSize();
            }

            Field field() {
                long tag = varint();
                long number = tag >>> 3;
                if (number == 0 || number > MAX_NUMBER) {
                    throw new IllegalArgumentException("found the field number " + number);
                }
                int wire = (int) (tag & 7);
                long integer = wire == VARINT ? varint() : 0;
                MemorySegment content = switch (wire) {
                    case VARINT -> MemorySegment.NULL;
                    case FIXED64 -> take(Long.BYTES);
                    case DELIMITED -> take(varint());
                    case FIXED32 -> take(Integer.BYTES);
                    default -> throw new IllegalArgumentException("found a field of wire type " + wire);
                };
                return new Field((int) number, wire, integer, content);
            }

            long varint() {
                long value = 0;
                for (int shift = 0; shift < 64; shift += 7) {
                    if (!hasNext()) {
                        throw new IllegalArgumentException("a number ends beyond its message");
                    }
                    byte next = bytes.get(ValueLayout.JAVA_BYTE, position++);
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
                position += count;
                return bytes.asSlice(position - count, count);
            }
        }

        private List<Field> all(int number) {
            return fields.getOrDefault(number, List.of());
        }

        public int count(int number) {
            return all(number).size();
        }

        public boolean has(int number) {
            return count(number) > 0;
        }

        public long integer(int number, long defaultValue) {
            return has(number) ? all(number).getLast().asInteger() : defaultValue;
        }

        /** Returns the bytes of a field, none if absent. */
        public MemorySegment bytes(int number) {
            return has(number) ? all(number).getLast().bytes() : MemorySegment.NULL;
        }

        /** Returns a text of at most 64 KiB, empty if absent. */
        public String text(int number) {
            return text(number, MAX_TEXT);
        }

        /** Returns a text of at most so many bytes, empty if absent. */
        public String text(int number, int limit) {
            return has(number) ? all(number).getLast().text(limit) : "";
        }

        /** Returns all texts of a field, each of at most 64 KiB. */
        public List<String> texts(int number) {
            return all(number).stream().map(field -> field.text(MAX_TEXT)).toList();
        }

        /** Returns a nested message, empty if absent. */
        public Message message(int number) {
            return has(number) ? all(number).getLast().message() : new Message(MemorySegment.NULL);
        }

        /** Returns all nested messages of a field, each decoded when it is reached. */
        public Stream<Message> messages(int number) {
            return all(number).stream().map(Field::message);
        }

        /** Returns the integers of a repeated field, packed or not, at most so many. */
        public long[] integers(int number, int limit) {
            List<Long> values = new ArrayList<>();
            for (Field field : all(number)) {
                Cursor packed = new Cursor(field.content); // empty for a single integer
                if (field.wire == VARINT) {
                    values.add(field.integer);
                }
                while (packed.hasNext() && values.size() <= limit) {
                    values.add(packed.varint());
                }
            }
            if (values.size() > limit) {
                throw new IllegalArgumentException("expected at most " + limit + " integers in a list, found more");
            }
            return values.stream().mapToLong(Long::longValue).toArray();
        }

        /** Returns the numbers in float32 of a repeated field, packed or not, at most so many. */
        public float[] floats(int number, int limit) {
            MemorySegment content = joined(number);
            if (content.byteSize() % Float.BYTES != 0 || content.byteSize() / Float.BYTES > limit) {
                throw new IllegalArgumentException(
                        "expected at most " + limit + " floats in a list, found " + content.byteSize() + " bytes");
            }
            return content.toArray(FLOAT);
        }

        /** Returns the bytes of all fields of a number, one after another. */
        public MemorySegment joined(int number) {
            if (count(number) <= 1) {
                return bytes(number);
            }
            ByteArrayOutputStream joined = new ByteArrayOutputStream();
            all(number).forEach(field -> joined.writeBytes(field.bytes().toArray(ValueLayout.JAVA_BYTE)));
            return MemorySegment.ofArray(joined.toByteArray());
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
