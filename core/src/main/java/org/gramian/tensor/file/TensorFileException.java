package org.gramian.tensor.file;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A tensor file that cannot be read or written; the message reads {@code FILE: what was expected, what was found}, and
 * is meant for the user as it stands.
 */
public final class TensorFileException extends IOException {
    private static final long serialVersionUID = 1L;

    /** A problem with the content of the file. */
    public TensorFileException(Path file, String problem) {
        super(file + ": " + problem);
    }

    /** A problem that another exception reported. */
    public TensorFileException(Path file, String problem, Throwable cause) {
        super(file + ": " + problem, cause);
    }
}
