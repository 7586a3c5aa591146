package org.gramian.model;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;

/**
 * A file that is no model that can be used; the message reads {@code FILE: what was expected, what was found; what to
 * try}, and is meant for the user as it stands.
 */
public final class ModelFileException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String problem;

    public ModelFileException(Path file, String problem) {
        this(file.toString(), problem);
    }

    public ModelFileException(Path file, String problem, Throwable cause) {
        this(file.toString(), problem, cause);
    }

    /** A problem with what was read from elsewhere, as {@code hdfs://host/model.safetensors}. */
    public ModelFileException(String place, String problem) {
        super(QuotedText.visible(place + ": " + problem));
        this.problem = problem;
    }

    /** The problem of a file that is a passing copy of what lies in a place. */
    public ModelFileException(String place, ModelFileException ofCopy) {
        this(place, ofCopy.problem, ofCopy);
    }

    private ModelFileException(String place, String problem, Throwable cause) {
        super(QuotedText.visible(place + ": " + problem), cause);
        this.problem = problem;
    }
}
