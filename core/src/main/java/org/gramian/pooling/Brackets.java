package org.gramian.pooling;

import java.util.ArrayList;
import java.util.List;

/** Takes texts of poolings apart where brackets do not forbid it: {@code /} and {@code +} inside belong to a {@link Join}. */
final class Brackets {
    static final String OPEN = "[";
    static final String CLOSE = "]";

    /** Between the branches of a join. */
    static final String BETWEEN = "+";

    /** Between the stages of a pooling. */
    static final String THEN = "/";

    private Brackets() {}

    /** Whether a part is a join, from bracket to bracket. */
    static boolean areAround(String part) {
        return part.startsWith(OPEN) && part.endsWith(CLOSE);
    }

    /** What stands between the brackets around a part. */
    static String inside(String part) {
        return part.substring(OPEN.length(), part.length() - CLOSE.length());
    }

    /**
     * The parts between separators that lie outside of all brackets.
     *
     * @throws PoolingSyntaxException if brackets are not closed, or closed without being opened
     */
    static List<String> split(String text, String separator) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            depth += text.startsWith(OPEN, i) ? 1 : text.startsWith(CLOSE, i) ? -1 : 0;
            if (depth < 0) {
                throw new PoolingSyntaxException("the bracket ']' at position " + (i + 1) + " of '" + text
                        + "' is unmatched: write '[' before it");
            }
            if (depth == 0 && text.startsWith(separator, i)) {
                parts.add(text.substring(start, i));
                start = i + separator.length();
            }
        }
        if (depth > 0) {
            throw new PoolingSyntaxException("'" + text + "' has " + depth + " more '[' than ']': close them as in"
                    + " [bilinear/triu/l2+average]/l2");
        }
        parts.add(text.substring(start));
        return parts;
    }
}
