package org.gramian.train.feature;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.zip.CRC32C;

/**
 * One file of the cache: a sequence of records, mapped into memory for reading.
 *
 * <p>A writer appends to its own file. Bytes behind the last complete record are ignored: they are being written, or the writer was
 * killed.
 */
final class FeatureSegment {
    /** Location of a record. */
    record Location(FeatureSegment segment, long offset, Header header) {
        /** Returns the feature if its checksum matches. */
        Optional<MemorySegment> read() throws IOException {
            segment.touch();
            return segment.bytes(offset + Header.BYTES, header.bytes()).filter(header::matches);
        }
    }

    private final Path file;
    private MemorySegment mapped = MemorySegment.NULL;
    private long scanned;
    private boolean touched;

    FeatureSegment(Path file) {
        this.file = file;
    }

    /** Passes the complete records since the last scan. */
    void scan(BiConsumer<FeatureRecipe.Key, Location> found) throws IOException {
        map();
        Optional<Header> header = Header.decode(mapped, scanned);
        while (header.isPresent()
                && mapped.byteSize() - scanned >= Header.taken(header.get().bytes())) {
            found.accept(header.get().key(), new Location(this, scanned, header.get()));
            scanned += Header.taken(header.get().bytes());
            header = Header.decode(mapped, scanned);
        }
    }

    /** Maps the current length of the file. Features in use keep their older mapping alive. */
    private void map() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() > mapped.byteSize()) {
                mapped = channel.map(MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            }
        }
    }

    /** Sets the file time at the first read: the least recently used files are removed first. */
    private void touch() {
        if (!touched) {
            touched = true;
            try {
                Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
            } catch (IOException _) {
                // a read-only cache is not pruned either
            }
        }
    }

    private Optional<MemorySegment> bytes(long offset, long count) throws IOException {
        if (mapped.byteSize() < offset + count) {
            map();
        }
        return mapped.byteSize() < offset + count ? Optional.empty() : Optional.of(mapped.asSlice(offset, count));
    }

    /**
     * The 64 bytes before a feature, big-endian.
     *
     * <pre>
     * bytes  0 …  7   "GRAMFEA1"
     * bytes  8 … 39   the key
     * bytes 40 … 47   length of the feature in bytes
     * bytes 48 … 51   CRC-32C of the feature
     * bytes 52 … 59   zero
     * bytes 60 … 63   CRC-32C of bytes 0 to 59
     * </pre>
     *
     * <p>The feature follows in native byte order, padded with zeros to a multiple of 64 bytes.
     *
     * @param key of the feature
     * @param bytes of the feature
     * @param checksum of the feature
     */
    record Header(FeatureRecipe.Key key, int bytes, int checksum) {
        static final int BYTES = 64;
        private static final long MAGIC = 0x4752_414d_4645_4131L;
        private static final int CHECKED = BYTES - Integer.BYTES;

        static Header of(FeatureRecipe.Key key, MemorySegment feature) {
            return new Header(key, Math.toIntExact(feature.byteSize()), checksum(feature.asByteBuffer()));
        }

        private static int checksum(ByteBuffer bytes) {
            CRC32C checksum = new CRC32C();
            checksum.update(bytes);
            return (int) checksum.getValue();
        }

        /** Returns the bytes of a record: header, feature and padding. */
        static long taken(long feature) {
            return BYTES + Math.ceilDiv(feature, BYTES) * BYTES;
        }

        ByteBuffer encode() {
            ByteBuffer header = ByteBuffer.allocate(BYTES).putLong(MAGIC);
            key.write(header);
            header.putLong(bytes).putInt(checksum);
            return header.putInt(CHECKED, checksum(header.slice(0, CHECKED))).rewind();
        }

        /** Returns the header at an offset, if it is complete and its checksum matches. */
        static Optional<Header> decode(MemorySegment file, long offset) {
            if (file.byteSize() - offset < BYTES) {
                return Optional.empty();
            }
            ByteBuffer header = file.asSlice(offset, BYTES).asByteBuffer();
            if (header.getLong() != MAGIC || header.getInt(CHECKED) != checksum(header.slice(0, CHECKED))) {
                return Optional.empty();
            }
            FeatureRecipe.Key key = FeatureRecipe.Key.read(header);
            long bytes = header.getLong();
            return bytes < 0 || bytes > Integer.MAX_VALUE
                    ? Optional.empty()
                    : Optional.of(new Header(key, (int) bytes, header.getInt()));
        }

        boolean matches(MemorySegment feature) {
            return feature.byteSize() == bytes && checksum(feature.asByteBuffer()) == checksum;
        }
    }

    /**
     * Appends records to a new file of the cache. Writers never share a file, so no lock is needed.
     *
     * <p>After a failure nothing more may be appended: readers stop at the first incomplete record.
     */
    static final class Writer implements Closeable {
        static final String SUFFIX = ".features";

        private final Path file;
        private final FeatureSegment segment;
        private final FileChannel channel;
        private long end;

        private Writer(Path file, FileChannel channel) {
            this.file = file;
            this.segment = new FeatureSegment(file);
            this.channel = channel;
        }

        static Writer create(Path folder) throws IOException {
            Path file = folder.resolve(UUID.randomUUID() + SUFFIX);
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            return new Writer(file, channel);
        }

        Path file() {
            return file;
        }

        Location append(FeatureRecipe.Key key, MemorySegment feature) throws IOException {
            FeatureSegment.Header header = FeatureSegment.Header.of(key, feature);
            long taken = FeatureSegment.Header.taken(header.bytes());
            int padding = (int) (taken - FeatureSegment.Header.BYTES - header.bytes());
            ByteBuffer[] record = {header.encode(), feature.asByteBuffer(), ByteBuffer.allocate(padding)};
            for (long left = taken; left > 0; ) {
                left -= channel.write(record);
            }
            Location location = new Location(segment, end, header);
            end += taken;
            return location;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
