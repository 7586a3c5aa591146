package org.gramian.train.feature;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * One file of the cache, as readers see it: records one after the other, mapped into memory.
 *
 * <p>It grows at its end while its writer lives. Whatever lies behind the last whole record is a record not yet finished,
 * or one whose writer was killed, and is not looked at.
 */
final class FeatureSegment {
    /** A record's place in this file. */
    record Location(FeatureSegment segment, long offset, RecordHeader header) {
        /** The feature, if its bytes are those that were written. */
        Optional<MemorySegment> read() throws IOException {
            segment.touch();
            return segment.bytes(offset + RecordHeader.BYTES, header.bytes()).filter(header::matches);
        }
    }

    private final Path file;
    private MemorySegment mapped = MemorySegment.NULL;
    private long scanned;
    private boolean touched;

    FeatureSegment(Path file) {
        this.file = file;
    }

    /** Tells of the whole records that have come since the last scan. */
    void scan(BiConsumer<FeatureKey, Location> found) throws IOException {
        map();
        Optional<RecordHeader> header = RecordHeader.decode(mapped, scanned);
        while (header.isPresent()
                && mapped.byteSize() - scanned
                        >= RecordHeader.taken(header.get().bytes())) {
            found.accept(header.get().key(), new Location(this, scanned, header.get()));
            scanned += RecordHeader.taken(header.get().bytes());
            header = RecordHeader.decode(mapped, scanned);
        }
    }

    /** Maps the file as far as it goes now. Features in use keep their older mapping alive. */
    private void map() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            if (channel.size() > mapped.byteSize()) {
                mapped = channel.map(MapMode.READ_ONLY, 0, channel.size(), Arena.ofAuto());
            }
        }
    }

    /** Sets the file's time at the first read, for removal goes by the last use. */
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
}
