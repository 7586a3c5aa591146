package org.gramian.image;

import org.gramian.basis.QuotedText;
import org.jspecify.annotations.Nullable;

/** Words of decoders as a reason may show them: short, and without characters that a terminal would obey. */
final class DecoderMessage {
    private DecoderMessage() {}

    /** Returns the message of the root cause, or its class name without one. */
    static String of(Throwable failure) {
        String said = "";
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            @Nullable String message = cause.getMessage();
            said = message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
        }
        return QuotedText.bare(said);
    }
}
