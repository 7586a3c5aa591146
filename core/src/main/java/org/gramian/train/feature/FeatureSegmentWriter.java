package org.gramian.train.feature;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import org.gramian.train.feature.FeatureSegment.Location;

/**
 * Appends records to a file of its own in the cache: no two writers ever share one, so that none needs a lock.
 *
 * <p>After a failure nothing more may be appended: readers stop at the first record that is not whole.
 */
final class FeatureSegmentWriter implements Closeable {
    static final String SUFFIX = ".features";

    private final Path file;
    private final FeatureSegment segment;
    private final FileChannel channel;
    private long end;

    private FeatureSegmentWriter(Path file, FileChannel channel) {
        this.file = file;
        this.segment = new FeatureSegment(file);
        this.channel = channel;
    }

    static FeatureSegmentWriter create(Path folder) throws IOException {
        Path file = folder.resolve(UUID.randomUUID() + SUFFIX);
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        return new FeatureSegmentWriter(file, channel);
    }

    Path file() {
        return file;
    }

    Location append(FeatureKey key, MemorySegment feature) throws IOException {
        RecordHeader header = RecordHeader.of(key, feature);
        long taken = RecordHeader.taken(header.bytes());
        int filling = (int) (taken - RecordHeader.BYTES - header.bytes());
        ByteBuffer[] record = {header.encode(), feature.asByteBuffer(), ByteBuffer.allocate(filling)};
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
