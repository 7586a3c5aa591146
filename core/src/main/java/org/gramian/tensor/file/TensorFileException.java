package org.gramian.tensor.file;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown if a tensor file cannot be read or written; the message, {@code FILE: expected …, found …}, is for the user. */
public final class TensorFileException extends IOException {
    private static final long serialVersionUID = 1L;

    public TensorFileException(Path file, String problem) {
        super(file + ": " + problem);
    }

    public TensorFileException(Path file, String problem, Throwable cause) {
        super(file + ": " + problem, cause);
    }
}
