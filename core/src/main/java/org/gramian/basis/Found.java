package org.gramian.basis;

/** Text from a file as a message may show it: quoted, short, and without characters that a terminal would obey. */
public final class Found {
    private static final int LENGTH_SHOWN = 120;

    private Found() {}

    /** The text in quotes. */
    public static String text(String text) {
        return "'" + bare(text) + "'";
    }

    /** The same without quotes, for text that has its own. */
    public static String bare(String text) {
        StringBuilder shown = new StringBuilder();
        text.codePoints()
                .limit(LENGTH_SHOWN)
                .map(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT ? '\uFFFD' : c)
                .forEach(shown::appendCodePoint);
        return text.codePointCount(0, text.length()) > LENGTH_SHOWN ? shown + "…" : shown.toString();
    }
}
