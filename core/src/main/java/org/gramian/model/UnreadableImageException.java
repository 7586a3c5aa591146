package org.gramian.model;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;

/**
 * Thrown for an image that cannot be read; the message has its name and the reason.
 *
 * @since 0.1
 */
public final class UnreadableImageException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Problem problem;

    /** Creates the exception of a file. */
    public UnreadableImageException(Path file, Unreadable reading) {
        this(file.toString(), reading);
    }

    /** Creates the exception of an image with a name. */
    public UnreadableImageException(String name, Unreadable reading) {
        super(QuotedText.visible(name + ": " + reading.reason()));
        this.problem = reading.problem();
    }

    /** Returns the kind of problem. */
    public Problem problem() {
        return problem;
    }
}
