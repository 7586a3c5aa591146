package org.gramian.basis;

/** Text from a file as a message may show it: quoted, short, and without characters that a terminal would obey. */
public final class QuotedText {
    private static final int LENGTH_SHOWN = 120;

    private QuotedText() {}

    /** The text in quotes. */
    public static String text(String text) {
        return "'" + bare(text) + "'";
    }

    /** The same without quotes, for text that has its own. */
    public static String bare(String text) {
        int length = text.codePointCount(0, text.length());
        return length > LENGTH_SHOWN
                ? visible(text.substring(0, text.offsetByCodePoints(0, LENGTH_SHOWN))) + "…"
                : visible(text);
    }

    /** The whole text, with a sign in place of every character that a terminal would obey. */
    public static String visible(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints()
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '\uFFFD' : c)
                .forEach(shown::appendCodePoint);
        return shown.toString();
    }
}
