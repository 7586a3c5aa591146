package org.gramian.export.proto;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Encoder of a protocol buffers message: fields in the order in which they are added.
 *
 * <p>A nested message must be complete when it is added. Large contents are not copied: they must stay readable until the message
 * is written.
 */
final class Message {
    private static final int CHUNK = 1 << 16;

    @FunctionalInterface
    private interface Field {
        void write(CodedOutputStream out) throws IOException;
    }

    private final List<Field> fields = new ArrayList<>();
    private long size;

    /** Returns the encoded size in bytes. */
    long size() {
        return size;
    }

    Message whole(int number, long value) {
        return add(CodedOutputStream.computeInt64Size(number, value), out -> out.writeInt64(number, value));
    }

    Message real(int number, float value) {
        return add(CodedOutputStream.computeFloatSize(number, value), out -> out.writeFloat(number, value));
    }

    /** Adds a text unless it is empty, as in proto3. */
    Message text(int number, String value) {
        return value.isEmpty() ? this : named(number, value);
    }

    /** Adds a text even if it is empty, for lists. */
    Message named(int number, String value) {
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        return add(CodedOutputStream.computeByteArraySize(number, bytes), out -> out.writeByteArray(number, bytes));
    }

    /** Adds integers, not packed. */
    Message wholes(int number, List<Long> values) {
        values.forEach(value -> whole(number, value));
        return this;
    }

    Message bytes(int number, MemorySegment content) {
        long length = content.byteSize();
        return add(delimited(number, length), out -> {
            out.writeTag(number, WireFormat.WIRETYPE_LENGTH_DELIMITED);
            out.writeUInt32NoTag(Math.toIntExact(length));
            copy(content, out);
        });
    }

    /** Copies in chunks: a segment of a float array has no byte buffer view. */
    private static void copy(MemorySegment content, CodedOutputStream out) throws IOException {
        byte[] chunk = new byte[(int) Math.min(CHUNK, content.byteSize())];
        for (long from = 0; from < content.byteSize(); from += chunk.length) {
            int count = (int) Math.min(chunk.length, content.byteSize() - from);
            MemorySegment.copy(content, ValueLayout.JAVA_BYTE, from, chunk, 0, count);
            out.writeRawBytes(chunk, 0, count);
        }
    }

    Message nested(int number, Message part) {
        return add(delimited(number, part.size), out -> {
            out.writeTag(number, WireFormat.WIRETYPE_LENGTH_DELIMITED);
            out.writeUInt32NoTag(Math.toIntExact(part.size));
            part.write(out);
        });
    }

    private static long delimited(int number, long length) {
        return CodedOutputStream.computeTagSize(number) + CodedOutputStream.computeUInt64SizeNoTag(length) + length;
    }

    private Message add(long bytes, Field field) {
        size = Math.addExact(size, bytes);
        fields.add(field);
        return this;
    }

    /** Writes all fields; the stream is not flushed. */
    void write(CodedOutputStream out) throws IOException {
        for (Field field : fields) {
            field.write(out);
        }
    }
}
