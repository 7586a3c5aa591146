package org.gramian.image;

import java.io.IOException;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult.Problem;
import org.jspecify.annotations.Nullable;

/** Thrown inside the package for an image that cannot be decoded. */
final class UnreadableException extends IOException {
    private static final long serialVersionUID = 1;

    private final Problem problem;

    UnreadableException(Problem problem, String reason) {
        super(reason);
        this.problem = problem;
    }

    static UnreadableException truncated(String reason) {
        return new UnreadableException(Problem.TRUNCATED, reason);
    }

    static UnreadableException corrupt(String reason) {
        return new UnreadableException(Problem.CORRUPT, reason);
    }

    static UnreadableException tooLarge(String reason) {
        return new UnreadableException(Problem.TOO_LARGE, reason);
    }

    static UnreadableException unknownFormat(String reason) {
        return new UnreadableException(Problem.UNKNOWN_FORMAT, reason);
    }

    static UnreadableException outOfMemory() {
        return new UnreadableException(
                Problem.NO_MEMORY,
                "expected an image that fits in memory, found one that needs more than is left of "
                        + (Runtime.getRuntime().maxMemory() >> 20)
                        + " MiB; if the file is intact, give Java more with -Xmx");
    }

    /** Returns the message of the root cause, or its class name, without control characters. */
    static String rootMessage(Throwable failure) {
        String found = "";
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            @Nullable String message = cause.getMessage();
            found = message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
        }
        return QuotedText.bare(found);
    }

    ReadResult.Unreadable reading() {
        return new ReadResult.Unreadable(problem, String.valueOf(getMessage()));
    }
}
