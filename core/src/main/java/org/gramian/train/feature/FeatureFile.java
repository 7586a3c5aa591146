package org.gramian.train.feature;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.RegularFile;
import org.gramian.image.ReadResult.Unreadable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Features of the crops of a dataset, a row for each crop, mapped into memory. A row holds the maps of one or more layers.
 *
 * <pre>
 * bytes  0 …  7   "GRAMFEA2"
 * bytes  8 … 15   number of rows n
 * bytes 16 … 23   bytes of a row, a multiple of 64
 * bytes 24 … 31   bytes of the file
 * bytes 32 … 35   CRC-32C of bytes 0 to 31 and of everything behind the rows
 * bytes 64 …      the rows, values in native byte order
 * behind them     CRC-32C of each row, and a {@link Header} as JSON
 * </pre>
 *
 * <p>Integers are big-endian. All checksums are verified when a file is opened.
 */
final class FeatureFile {
    static final String SUFFIX = ".features";

    private static final long MAGIC = 0x4752_414d_4645_4132L;
    private static final int ALIGNMENT = 64;
    private static final int CHECKED = 32;
    private static final JsonMapper MAPPER = JsonMapper.shared();

    /**
     * Description of the rows.
     *
     * @param layers offset in a row and length of the maps of each layer or selection of layers, in bytes
     * @param unreadable why a row has no feature
     */
    record Header(Map<String, String> recipe, Map<String, Part> layers, Map<Integer, Unreadable> unreadable) {}

    record Part(long offset, long bytes) {}

    private final MemorySegment rows;
    private final long rowBytes;
    private final Header header;

    private FeatureFile(MemorySegment rows, long rowBytes, Header header) {
        this.rows = rows;
        this.rowBytes = rowBytes;
        this.header = header;
    }

    Header header() {
        return header;
    }

    MemorySegment row(int index, Part part) {
        return rows.asSlice(index * rowBytes + part.offset, part.bytes);
    }

    static long aligned(long bytes) {
        return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
    }

    static long bytes(long rows, long rowBytes) {
        return ALIGNMENT + Math.multiplyExact(rows, aligned(rowBytes) + Integer.BYTES);
    }

    static FeatureFile open(Path file, int expected) throws IOException {
        MemorySegment all;
        RegularFile.attributes(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() < ALIGNMENT) {
                throw new IOException("it has only " + channel.size() + " bytes");
            }
            all = channel.map(MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
        }
        ByteBuffer begin = all.asSlice(0, ALIGNMENT).asByteBuffer();
        long rowBytes = begin.getLong(16);
        if (begin.getLong(0) != MAGIC
                || begin.getLong(8) != expected
                || begin.getLong(24) != all.byteSize()
                || rowBytes < 1
                || rowBytes > (all.byteSize() - ALIGNMENT) / Math.max(1, expected)) {
            throw new IOException("its header does not fit");
        }
        MemorySegment rows = all.asSlice(ALIGNMENT, expected * rowBytes);
        ByteBuffer end = all.asSlice(ALIGNMENT + expected * rowBytes).asByteBuffer();
        if (begin.getInt(CHECKED) != checksum(begin.slice(0, CHECKED), end)) {
            throw new IOException("the checksum of its header differs");
        }
        try {
            byte[] json = new byte[end.capacity() - expected * Integer.BYTES];
            end.get(expected * Integer.BYTES, json);
            Header header = MAPPER.readValue(json, Header.class);
            boolean intact = IntStream.range(0, expected)
                    .parallel()
                    .allMatch(row -> header.unreadable.containsKey(row)
                            || end.getInt(row * Integer.BYTES)
                                    == checksum(rows.asSlice(row * rowBytes, rowBytes)
                                            .asByteBuffer()));
            if (!intact) {
                throw new IOException("the checksum of a feature differs");
            }
            touch(file);
            return new FeatureFile(rows, rowBytes, header);
        } catch (JacksonException | IndexOutOfBoundsException | NegativeArraySizeException foreign) {
            throw new IOException("its description is damaged", foreign);
        }
    }

    /** Sets the time of the last use: the oldest files are removed first. */
    private static void touch(Path file) throws IOException {
        try {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
        } catch (NoSuchFileException _) {
            // removed meanwhile; the mapping stays
        }
    }

    private static int checksum(ByteBuffer... parts) {
        CRC32C checksum = new CRC32C();
        for (ByteBuffer part : parts) {
            checksum.update(part);
        }
        return (int) checksum.getValue();
    }

    @FunctionalInterface
    interface Computation {
        void run(Writer writer) throws IOException;
    }

    /** Writes a file, whole or not at all. */
    static void write(Path file, int rows, long rowBytes, Header header, Computation computation) throws IOException {
        AtomicFile.put(file, partial -> {
            partial.toFile().deleteOnExit(); // if the process is ended by a signal
            try (FileChannel channel =
                    FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                Writer writer = new Writer(channel, rows, aligned(rowBytes));
                computation.run(writer);
                writer.finish(header);
            }
        });
    }

    static final class Writer {
        private final FileChannel channel;
        private final ByteBuffer begin = ByteBuffer.allocate(ALIGNMENT);
        private final int rows;
        private final long rowBytes;
        private final ByteBuffer checksums;
        private final Map<Integer, Unreadable> unreadable = new HashMap<>();

        private Writer(FileChannel channel, int rows, long rowBytes) {
            this.channel = channel;
            this.rows = rows;
            this.rowBytes = rowBytes;
            this.checksums = ByteBuffer.allocate(Math.multiplyExact(rows, Integer.BYTES));
        }

        void row(int index, MemorySegment row) throws IOException {
            checksums.putInt(index * Integer.BYTES, checksum(row.asByteBuffer()));
            write(row.asByteBuffer(), ALIGNMENT + index * rowBytes);
        }

        void unreadable(int index, Unreadable problem) {
            unreadable.put(index, problem);
        }

        private void finish(Header header) throws IOException {
            byte[] json = MAPPER.writeValueAsBytes(new Header(header.recipe, header.layers, unreadable));
            ByteBuffer end = ByteBuffer.allocate(checksums.capacity() + json.length);
            end.put(checksums).put(json).flip();
            long behind = ALIGNMENT + rows * rowBytes;
            begin.putLong(0, MAGIC).putLong(8, rows).putLong(16, rowBytes).putLong(24, behind + end.capacity());
            begin.putInt(CHECKED, checksum(begin.slice(0, CHECKED), end.duplicate()));
            write(end, behind);
            write(begin, 0);
        }

        private void write(ByteBuffer bytes, long position) throws IOException {
            long at = position;
            while (bytes.hasRemaining()) {
                at += channel.write(bytes, at);
            }
        }
    }
}
