package org.gramian.backbone.weights.format;

import java.nio.file.Path;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.TensorFileException;

/** What the entries of one file may unpack to together: many that share their bytes could grow a small file to any size. */
final class UnpackingLimit {
    private final Path path;
    private final long most;
    private long used;

    /** For a file of so many bytes. */
    UnpackingLimit(Path path, long size) {
        this.path = path;
        this.most = Limits.unpacked(size);
    }

    /** Notes that an entry takes so many bytes, at least 0. */
    void take(String entry, long bytes) throws TensorFileException {
        if (bytes > most - used) {
            throw new TensorFileException(
                    path,
                    ("with %s, the content would unpack to more than %d bytes, too much for weights of that size:"
                                    + " refused")
                            .formatted(QuotedText.text(entry), most));
        }
        used += bytes;
    }
}
