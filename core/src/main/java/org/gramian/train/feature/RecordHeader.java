package org.gramian.train.feature;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * The 64 bytes before a feature in a file of the cache.
 *
 * <pre>
 * bytes  0 …  7   "GRAMFEA1"
 * bytes  8 … 39   the key
 * bytes 40 … 47   bytes of the feature, big-endian as all numbers here
 * bytes 48 … 51   CRC-32C of the feature
 * bytes 52 … 59   zero
 * bytes 60 … 63   CRC-32C of bytes 0 to 59
 * </pre>
 *
 * <p>The feature follows, in the machine's byte order, and zeros up to the next multiple of 64.
 *
 * @param key of the feature
 * @param bytes of the feature
 * @param checksum of the feature
 */
record RecordHeader(FeatureKey key, int bytes, int checksum) {
    static final int BYTES = 64;
    private static final long MAGIC = 0x4752_414d_4645_4131L;
    private static final int CHECKED = BYTES - Integer.BYTES;

    static RecordHeader of(FeatureKey key, MemorySegment feature) {
        return new RecordHeader(key, Math.toIntExact(feature.byteSize()), checksum(feature.asByteBuffer()));
    }

    private static int checksum(ByteBuffer bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return (int) checksum.getValue();
    }

    /** Bytes that a feature of this size takes, with its header and what fills it up. */
    static long taken(long feature) {
        return BYTES + Math.ceilDiv(feature, BYTES) * BYTES;
    }

    ByteBuffer encode() {
        ByteBuffer header = ByteBuffer.allocate(BYTES).putLong(MAGIC);
        key.write(header);
        header.putLong(bytes).putInt(checksum);
        return header.putInt(CHECKED, checksum(header.slice(0, CHECKED))).rewind();
    }

    /** The header at an offset, if a whole and correct one is there. */
    static Optional<RecordHeader> decode(MemorySegment file, long offset) {
        if (file.byteSize() - offset < BYTES) {
            return Optional.empty();
        }
        ByteBuffer header = file.asSlice(offset, BYTES).asByteBuffer();
        if (header.getLong() != MAGIC || header.getInt(CHECKED) != checksum(header.slice(0, CHECKED))) {
            return Optional.empty();
        }
        FeatureKey key = FeatureKey.read(header);
        long bytes = header.getLong();
        return bytes < 0 || bytes > Integer.MAX_VALUE
                ? Optional.empty()
                : Optional.of(new RecordHeader(key, (int) bytes, header.getInt()));
    }

    boolean matches(MemorySegment feature) {
        return feature.byteSize() == bytes && checksum(feature.asByteBuffer()) == checksum;
    }
}
