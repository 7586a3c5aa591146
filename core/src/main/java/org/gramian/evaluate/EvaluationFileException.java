package org.gramian.evaluate;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A file of results that cannot be read; the message reads {@code FILE: what was expected, what was found}, and is meant
 * for the user as it stands.
 */
public final class EvaluationFileException extends IOException {
    private static final long serialVersionUID = 1L;

    /** A problem with the content of the file. */
    public EvaluationFileException(Path file, String problem) {
        super(file + ": " + problem);
    }

    /** A problem that another exception reported. */
    public EvaluationFileException(Path file, String problem, Throwable cause) {
        super(file + ": " + problem, cause);
    }
}
