package org.gramian.model;

import java.io.IOException;
import java.nio.file.Path;
import org.gramian.basis.Found;
import org.gramian.image.Reading.Problem;
import org.gramian.image.Reading.Unreadable;

/** A file of which no answer is possible, for it is no picture that can be read; the message says why. */
public final class UnreadablePictureException extends IOException {
    private static final long serialVersionUID = 1L;

    private final Problem problem;

    public UnreadablePictureException(Path file, Unreadable reading) {
        super(Found.visible(file + ": " + reading.reason()));
        this.problem = reading.problem();
    }

    /** The kind of problem. */
    public Problem problem() {
        return problem;
    }
}
