package org.gramian.backbone.weights.format;

import java.nio.file.Path;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.TensorFileException;

/**
 * Limits on the memory that an untrusted weight file may allocate, in proportion to its own size: weights hardly
 * compress.
 *
 * <p>An instance bounds the total over the entries of one file: entries that share their packed bytes could grow a
 * small file to any size.
 */
final class FileLimits {
    /** Largest pickle of a state dictionary, without the data: 100 to 200 bytes for each tensor. */
    static final int PICKLE_BYTES = 16 << 20;

    /** Largest number of entries or tensors in a file. */
    static final int ENTRIES = 100_000;

    /** Largest number of dimensions of a tensor. */
    static final int RANK = 64;

    /** Largest number of characters of a name: comparing longer ones repeatedly is too slow. */
    static final int NAME_LENGTH = 10_000;

    /** Small files may unpack to this many bytes, whatever the ratio. */
    private static final long SMALL = 64L << 20;

    private static final long RATIO = 16;

    private final Path path;
    private final long limit;
    private long used;

    /**
     * Creates the limits of one file.
     *
     * @param path the file, for messages
     * @param size bytes of the file
     */
    FileLimits(Path path, long size) {
        this.path = path;
        this.limit = unpacked(size);
    }

    /** Returns the largest number of bytes that {@code packed} bytes may unpack to. */
    static long unpacked(long packed) {
        return Math.max(SMALL, packed > Long.MAX_VALUE / RATIO ? Long.MAX_VALUE : packed * RATIO);
    }

    /**
     * Adds the unpacked size of an entry to the total of the file.
     *
     * @param entry name of the entry
     * @param bytes unpacked size, at least 0
     * @throws TensorFileException if the total exceeds the limit
     */
    void allocate(String entry, long bytes) throws TensorFileException {
        if (bytes > limit - used) {
            throw new TensorFileException(
                    path,
                    ("with %s, the content would unpack to more than %d bytes, too much for weights of that size:"
                                    + " refused")
                            .formatted(QuotedText.text(entry), limit));
        }
        used += bytes;
    }
}
