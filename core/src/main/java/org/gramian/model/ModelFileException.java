package org.gramian.model;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;

/**
 * Thrown for an unusable model file; the message is {@code FILE: expected, found; what to try}.
 *
 * @since 0.1
 */
public final class ModelFileException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String problem;

    /** Creates the exception of a file. */
    public ModelFileException(Path file, String problem) {
        this(file.toString(), problem);
    }

    /** Creates the exception of a file, with its cause. */
    public ModelFileException(Path file, String problem, Throwable cause) {
        this(file.toString(), problem, cause);
    }

    /** Creates an exception for a place that is not a local file, such as {@code hdfs://host/model.safetensors}. */
    public ModelFileException(String place, String problem) {
        super(QuotedText.visible(place + ": " + problem));
        this.problem = problem;
    }

    /** Creates an exception for the original of a temporary copy. */
    public ModelFileException(String place, ModelFileException ofCopy) {
        this(place, ofCopy.problem, ofCopy);
    }

    private ModelFileException(String place, String problem, Throwable cause) {
        super(QuotedText.visible(place + ": " + problem), cause);
        this.problem = problem;
    }
}
