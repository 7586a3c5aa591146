package org.gramian.evaluate;

import java.io.IOException;
import java.nio.file.Path;

/** A results file that cannot be read. The message is {@code FILE: what was expected, what was found}. */
public final class EvaluationFileException extends IOException {
    private static final long serialVersionUID = 1L;

    public EvaluationFileException(Path file, String problem) {
        super(file + ": " + problem);
    }

    public EvaluationFileException(Path file, String problem, Throwable cause) {
        super(file + ": " + problem, cause);
    }
}
