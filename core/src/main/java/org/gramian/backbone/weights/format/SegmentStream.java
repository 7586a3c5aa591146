package org.gramian.backbone.weights.format;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A segment as a stream, which skips without reading. */
final class SegmentStream extends InputStream {
    private final MemorySegment segment;
    private long position;

    SegmentStream(MemorySegment segment) {
        this.segment = segment;
    }

    @Override
    public int read() {
        return position == segment.byteSize() ? -1 : Byte.toUnsignedInt(segment.get(ValueLayout.JAVA_BYTE, position++));
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        int count = (int) Math.min(length, segment.byteSize() - position);
        if (count == 0 && length > 0) {
            return -1;
        }
        MemorySegment.copy(segment, ValueLayout.JAVA_BYTE, position, target, offset, count);
        position += count;
        return count;
    }

    @Override
    public long skip(long count) {
        long skipped = Math.clamp(count, 0, segment.byteSize() - position);
        position += skipped;
        return skipped;
    }
}
