package org.gramian.export;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.basis.AtomicFile;

/**
 * Writes a Parquet file of text columns and one column of float vectors, for pandas, Spark, DuckDB and the like.
 *
 * <p>The form is the plainest that the <a href="https://parquet.apache.org/docs/file-format/">format</a> has: version 1,
 * one uncompressed data page of encoding PLAIN per column and row group. Parquet's own library needs Hadoop's classes, some
 * 60 MB; this writes what descriptors need.
 */
public final class ParquetFile {
    private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
    private static final long GROUP_BYTES = 64L << 20;

    private static final int FLOAT = 4;
    private static final int BYTE_ARRAY = 6;
    private static final int REQUIRED = 0;
    private static final int REPEATED = 2;
    private static final int UTF8 = 0;
    private static final int LIST = 3;
    private static final int PLAIN = 0;
    private static final int RLE = 3;

    private final FileChannel channel;
    private final List<Group> groups = new ArrayList<>();
    private long position;

    private ParquetFile(FileChannel channel) {
        this.channel = channel;
    }

    /** One column of a row group, as the footer describes it. */
    private record Chunk(List<String> path, int type, long values, long offset, long bytes) {}

    /** Some rows. */
    private record Group(List<Chunk> chunks, long rows) {}

    /**
     * Writes a file, complete or not at all.
     *
     * @param texts columns of text by name, each with a value per row
     * @param vector name of the column of vectors
     * @param length of a vector, at least 1
     * @param values {@code [rows, length]}, little-endian float32
     * @param metadata of the file
     */
    public static void write(
            Path path,
            SequencedMap<String, List<String>> texts,
            String vector,
            int length,
            MemorySegment values,
            Map<String, String> metadata)
            throws IOException {
        long rowBytes = Math.multiplyExact((long) length, Float.BYTES);
        long rows = values.byteSize() / rowBytes;
        AtomicFile.put(path, partial -> {
            try (FileChannel channel =
                    FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                ParquetFile file = new ParquetFile(channel);
                file.append(ByteBuffer.wrap(MAGIC));
                long some = Math.max(1, GROUP_BYTES / rowBytes);
                for (long row = 0; row < rows; row += some) {
                    long count = Math.min(some, rows - row);
                    MemorySegment part = values.asSlice(row * rowBytes, count * rowBytes);
                    file.group(texts, (int) row, (int) count, vector, length, part);
                }
                file.footer(new ArrayList<>(texts.keySet()), vector, rows, metadata);
            }
        });
    }

    private void group(
            SequencedMap<String, List<String>> texts,
            int first,
            int rows,
            String vector,
            int length,
            MemorySegment values)
            throws IOException {
        List<Chunk> chunks = new ArrayList<>();
        for (Map.Entry<String, List<String>> column : texts.entrySet()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            for (String value : column.getValue().subList(first, first + rows)) {
                byte[] text = value.getBytes(StandardCharsets.UTF_8);
                bytes.writeBytes(little(text.length));
                bytes.writeBytes(text);
            }
            ByteBuffer page = ByteBuffer.wrap(bytes.toByteArray());
            chunks.add(chunk(List.of(column.getKey()), BYTE_ARRAY, rows, new byte[0], page));
        }
        List<String> path = List.of(vector, "list", "element");
        chunks.add(chunk(path, FLOAT, (long) rows * length, levels(rows, length), values.asByteBuffer()));
        groups.add(new Group(chunks, rows));
    }

    /** Repetition and definition levels of lists of one length: 0 begins a list, 1 continues it; no value is missing. */
    private static byte[] levels(int rows, int length) {
        ByteArrayOutputStream repetition = new ByteArrayOutputStream();
        for (int row = 0; row < rows; row++) {
            run(repetition, 1, 0);
            if (length > 1) {
                run(repetition, length - 1, 1);
            }
        }
        ByteArrayOutputStream definition = new ByteArrayOutputStream();
        run(definition, (long) rows * length, 1);
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(little(repetition.size()));
        both.writeBytes(repetition.toByteArray());
        both.writeBytes(little(definition.size()));
        both.writeBytes(definition.toByteArray());
        return both.toByteArray();
    }

    /** A run of the run-length encoding. */
    private static void run(ByteArrayOutputStream to, long count, int value) {
        Thrift.varint(to, count << 1);
        to.write(value);
    }

    private static byte[] little(int value) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
    }

    private Chunk chunk(List<String> path, int type, long count, byte[] levels, ByteBuffer values) throws IOException {
        long offset = position;
        int size = levels.length + values.remaining();
        Thrift header = new Thrift()
                .integer(1, 0) // a data page
                .integer(2, size)
                .integer(3, size)
                .struct(
                        5,
                        new Thrift()
                                .integer(1, Math.toIntExact(count))
                                .integer(2, PLAIN)
                                .integer(3, RLE)
                                .integer(4, RLE));
        append(ByteBuffer.wrap(header.bytes()));
        append(ByteBuffer.wrap(levels));
        append(values);
        return new Chunk(path, type, count, offset, position - offset);
    }

    private void append(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            position += channel.write(bytes);
        }
    }

    private void footer(List<String> texts, String vector, long rows, Map<String, String> metadata) throws IOException {
        List<Thrift> schema = new ArrayList<>();
        schema.add(new Thrift().text(4, "schema").integer(5, texts.size() + 1));
        for (String name : texts) {
            schema.add(new Thrift()
                    .integer(1, BYTE_ARRAY)
                    .integer(3, REQUIRED)
                    .text(4, name)
                    .integer(6, UTF8)
                    .struct(10, new Thrift().struct(1, new Thrift())));
        }
        schema.add(new Thrift()
                .integer(3, REQUIRED)
                .text(4, vector)
                .integer(5, 1)
                .integer(6, LIST)
                .struct(10, new Thrift().struct(3, new Thrift())));
        schema.add(new Thrift().integer(3, REPEATED).text(4, "list").integer(5, 1));
        schema.add(new Thrift().integer(1, FLOAT).integer(3, REQUIRED).text(4, "element"));
        byte[] footer = new Thrift()
                .integer(1, 1)
                .structs(2, schema)
                .number(3, rows)
                .structs(4, groups.stream().map(ParquetFile::described).toList())
                .structs(
                        5,
                        metadata.entrySet().stream()
                                .map(one -> new Thrift().text(1, one.getKey()).text(2, one.getValue()))
                                .toList())
                .text(6, "gramian")
                .bytes();
        append(ByteBuffer.wrap(footer));
        append(ByteBuffer.wrap(little(footer.length)));
        append(ByteBuffer.wrap(MAGIC));
    }

    private static Thrift described(Group group) {
        List<Thrift> columns = group.chunks.stream()
                .map(chunk -> new Thrift()
                        .number(2, chunk.offset)
                        .struct(
                                3,
                                new Thrift()
                                        .integer(1, chunk.type)
                                        .integers(2, List.of(PLAIN, RLE))
                                        .texts(3, chunk.path)
                                        .integer(4, 0) // uncompressed
                                        .number(5, chunk.values)
                                        .number(6, chunk.bytes)
                                        .number(7, chunk.bytes)
                                        .number(9, chunk.offset)))
                .toList();
        long bytes = group.chunks.stream().mapToLong(Chunk::bytes).sum();
        return new Thrift().structs(1, columns).number(2, bytes).number(3, group.rows);
    }

    /** A struct in Thrift's compact protocol, field by field in rising order. */
    private static final class Thrift {
        private static final int I32 = 5;
        private static final int I64 = 6;
        private static final int BINARY = 8;
        private static final int LISTED = 9;
        private static final int STRUCT = 12;
        private static final int SHORT_LIST = 15;

        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private int last;

        private void field(int id, int type) {
            out.write(((id - last) << 4) | type); // ids here never rise by more than 15
            last = id;
        }

        Thrift integer(int id, int value) {
            field(id, I32);
            zigzag(value);
            return this;
        }

        Thrift number(int id, long value) {
            field(id, I64);
            zigzag(value);
            return this;
        }

        Thrift text(int id, String value) {
            field(id, BINARY);
            binary(value);
            return this;
        }

        Thrift struct(int id, Thrift value) {
            field(id, STRUCT);
            out.writeBytes(value.bytes());
            return this;
        }

        Thrift structs(int id, List<Thrift> values) {
            list(id, STRUCT, values.size());
            values.forEach(value -> out.writeBytes(value.bytes()));
            return this;
        }

        Thrift texts(int id, List<String> values) {
            list(id, BINARY, values.size());
            values.forEach(this::binary);
            return this;
        }

        Thrift integers(int id, List<Integer> values) {
            list(id, I32, values.size());
            values.forEach(this::zigzag);
            return this;
        }

        private void list(int id, int type, int size) {
            field(id, LISTED);
            out.write((Math.min(size, SHORT_LIST) << 4) | type);
            if (size >= SHORT_LIST) {
                varint(out, size);
            }
        }

        private void binary(String value) {
            byte[] text = value.getBytes(StandardCharsets.UTF_8);
            varint(out, text.length);
            out.writeBytes(text);
        }

        private void zigzag(long value) {
            varint(out, (value << 1) ^ (value >> 63));
        }

        static void varint(ByteArrayOutputStream to, long value) {
            long rest = value;
            while ((rest & ~0x7FL) != 0) {
                to.write((int) ((rest & 0x7F) | 0x80));
                rest >>>= 7;
            }
            to.write((int) rest);
        }

        /** The struct so far, closed. */
        byte[] bytes() {
            ByteArrayOutputStream whole = new ByteArrayOutputStream();
            whole.writeBytes(out.toByteArray());
            whole.write(0);
            return whole.toByteArray();
        }
    }
}
