package org.gramian.image.vp8;

import java.util.regex.Pattern;

/** Reads the tables of the standard, which are written as text to keep their rows in sight. */
final class Numbers {
    private static final Pattern GAPS = Pattern.compile("\\s+");

    private Numbers() {}

    /** The whole numbers of a text, in order. */
    static int[] of(String text) {
        return GAPS.splitAsStream(text.strip()).mapToInt(Integer::parseInt).toArray();
    }
}
