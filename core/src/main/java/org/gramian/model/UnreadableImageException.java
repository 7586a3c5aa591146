package org.gramian.model;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;

/** A file of which no answer is possible, for it is no image that can be read; the message says why. */
public final class UnreadableImageException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Problem problem;

    public UnreadableImageException(Path file, Unreadable reading) {
        super(QuotedText.visible(file + ": " + reading.reason()));
        this.problem = reading.problem();
    }

    /** The kind of problem. */
    public Problem problem() {
        return problem;
    }
}
