package org.gramian.image;

import org.jspecify.annotations.Nullable;

/** Words of decoders as a reason may show them: short, and without characters that a terminal would obey. */
final class Complaint {
    private static final int LENGTH_SHOWN = 160;

    private Complaint() {}

    /** What the first cause of a failure says, or the name of its kind where it says nothing. */
    static String of(Throwable failure) {
        String said = "";
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            @Nullable String message = cause.getMessage();
            said = message == null || message.isBlank() ? cause.getClass().getSimpleName() : message;
        }
        return shown(said);
    }

    static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints()
                .limit(LENGTH_SHOWN)
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '\uFFFD' : c)
                .forEach(shown::appendCodePoint);
        return text.codePointCount(0, text.length()) > LENGTH_SHOWN ? shown + "…" : shown.toString();
    }
}
