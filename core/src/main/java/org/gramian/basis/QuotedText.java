package org.gramian.basis;

import java.util.Collection;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Untrusted text in messages: quoted, short, and without control characters. */
public final class QuotedText {
    private static final int LENGTH_SHOWN = 120;
    private static final int NAMES_SHOWN = 20;

    /** Words that a shell takes as they are. */
    private static final Pattern PLAIN = Pattern.compile("[\\p{L}\\p{N}_@%+=:,./-]+");

    private QuotedText() {}

    /** Returns a word as an argument of a command line, in single quotes if a shell would change it. */
    public static String argument(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }

    public static String text(String text) {
        return "'" + bare(text) + "'";
    }

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

    /** Returns names in quotes, joined by commas: the first twenty, and the number of others. */
    public static String quoted(Collection<String> names) {
        return some(names.stream().map(QuotedText::text).toList());
    }

    /** Returns names as they are, joined by commas: the first twenty, and the number of others. */
    public static String some(Collection<String> names) {
        String shown = names.stream().limit(NAMES_SHOWN).collect(Collectors.joining(", "));
        int rest = names.size() - NAMES_SHOWN;
        return rest > 0 ? shown + " and " + rest + " more" : shown;
    }
}
