package org.gramian.image;

import java.io.IOException;
import org.gramian.image.ReadResult.Problem;

/** Carries a problem out of the decoding of one image; never leaves the package. */
final class UnreadableException extends IOException {
    private static final long serialVersionUID = 1;

    private final Problem problem;

    UnreadableException(Problem problem, String reason) {
        super(reason);
        this.problem = problem;
    }

    static UnreadableException outOfMemory() {
        return new UnreadableException(
                Problem.NO_MEMORY,
                "expected an image that fits in memory, found one that needs more than is left of "
                        + (Runtime.getRuntime().maxMemory() >> 20)
                        + " MiB; if the file is intact, give Java more with -Xmx");
    }

    ReadResult.Unreadable reading() {
        return new ReadResult.Unreadable(problem, String.valueOf(getMessage()));
    }
}
