package org.gramian.cli.command;

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
import java.util.Arrays;
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
final class ParquetFile {
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
    private final List<Thrift> groups = new ArrayList<>();
    private long position;

    private ParquetFile(FileChannel channel) {
        this.channel = channel;
    }

    /** Writes a file, complete or not at all. */
    static void write(
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
        long start = position;
        List<Thrift> chunks = new ArrayList<>();
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
        groups.add(new Thrift().put(1, chunks).put(2, position - start).put(3, (long) rows));
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

    /** Writes one column of a row group, and returns its description for the footer. */
    private Thrift chunk(List<String> path, int type, long count, byte[] levels, ByteBuffer values) throws IOException {
        long offset = position;
        int size = levels.length + values.remaining();
        Thrift header = new Thrift()
                .put(1, 0) // a data page
                .put(2, size)
                .put(3, size)
                .put(
                        5,
                        new Thrift()
                                .put(1, Math.toIntExact(count))
                                .put(2, PLAIN)
                                .put(3, RLE)
                                .put(4, RLE));
        append(ByteBuffer.wrap(header.bytes()));
        append(ByteBuffer.wrap(levels));
        append(values);
        Thrift column = new Thrift()
                .put(1, type)
                .put(2, List.of(PLAIN, RLE))
                .put(3, path)
                .put(4, 0) // uncompressed
                .put(5, count)
                .put(6, position - offset)
                .put(7, position - offset)
                .put(9, offset);
        return new Thrift().put(2, offset).put(3, column);
    }

    private void append(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            position += channel.write(bytes);
        }
    }

    private void footer(List<String> texts, String vector, long rows, Map<String, String> metadata) throws IOException {
        List<Thrift> schema = new ArrayList<>();
        schema.add(new Thrift().put(4, "schema").put(5, texts.size() + 1));
        for (String name : texts) {
            schema.add(new Thrift()
                    .put(1, BYTE_ARRAY)
                    .put(3, REQUIRED)
                    .put(4, name)
                    .put(6, UTF8)
                    .put(10, new Thrift().put(1, new Thrift())));
        }
        schema.add(new Thrift()
                .put(3, REQUIRED)
                .put(4, vector)
                .put(5, 1)
                .put(6, LIST)
                .put(10, new Thrift().put(3, new Thrift())));
        schema.add(new Thrift().put(3, REPEATED).put(4, "list").put(5, 1));
        schema.add(new Thrift().put(1, FLOAT).put(3, REQUIRED).put(4, "element"));
        byte[] footer = new Thrift()
                .put(1, 1)
                .put(2, schema)
                .put(3, rows)
                .put(4, groups)
                .put(
                        5,
                        metadata.entrySet().stream()
                                .map(one -> new Thrift().put(1, one.getKey()).put(2, one.getValue()))
                                .toList())
                .put(6, "gramian")
                .bytes();
        append(ByteBuffer.wrap(footer));
        append(ByteBuffer.wrap(little(footer.length)));
        append(ByteBuffer.wrap(MAGIC));
    }

    /** A struct in Thrift's compact protocol, field by field in rising order. */
    private static final class Thrift {
        private static final int STRUCT = 12;
        private static final int SHORT_LIST = 15;

        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private int last;

        /** Adds an integer, a long, a text, a struct, or a list of one of them. */
        Thrift put(int id, Object value) {
            out.write(((id - last) << 4) | type(value)); // ids here never rise by more than 15
            last = id;
            write(value);
            return this;
        }

        private static int type(Object value) {
            return switch (value) {
                case Integer _ -> 5;
                case Long _ -> 6;
                case String _ -> 8;
                case List<?> _ -> 9;
                default -> STRUCT;
            };
        }

        private void write(Object value) {
            switch (value) {
                case Number number -> varint(out, (number.longValue() << 1) ^ (number.longValue() >> 63)); // zigzag
                case Thrift struct -> out.writeBytes(struct.bytes());
                case List<?> list -> {
                    int type = list.isEmpty() ? STRUCT : type(list.getFirst());
                    out.write((Math.min(list.size(), SHORT_LIST) << 4) | type);
                    if (list.size() >= SHORT_LIST) {
                        varint(out, list.size());
                    }
                    list.forEach(this::write);
                }
                default -> {
                    byte[] text = value.toString().getBytes(StandardCharsets.UTF_8);
                    varint(out, text.length);
                    out.writeBytes(text);
                }
            }
        }

        static void varint(ByteArrayOutputStream to, long value) {
            long rest = value;
            while ((rest & ~0x7FL) != 0) {
                to.write((int) ((rest & 0x7F) | 0x80));
                rest >>>= 7;
            }
            to.write((int) rest);
        }

        byte[] bytes() {
            return Arrays.copyOf(out.toByteArray(), out.size() + 1); // ends with 0
        }
    }
}
