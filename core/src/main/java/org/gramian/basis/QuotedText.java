package org.gramian.basis;

/** Untrusted text in messages: quoted, short, and without control characters. */
public final class QuotedText {
    private static final int LENGTH_SHOWN = 120;

    private QuotedText() {}

    /** Returns the text in quotes. */
    public static String text(String text) {
        return "'" + bare(text) + "'";
    }

    /** Returns the text without quotes. */
    public static String bare(String text) {
        int length = text.codePointCount(0, text.length());
        return length > LENGTH_SHOWN
                ? visible(text.substring(0, text.offsetByCodePoints(0, LENGTH_SHOWN))) + "…"
                : visible(text);
    }

    /** Returns the whole text with control characters replaced. */
    public static String visible(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints()
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '\uFFFD' : c)
                .forEach(shown::appendCodePoint);
        return shown.toString();
    }
}
