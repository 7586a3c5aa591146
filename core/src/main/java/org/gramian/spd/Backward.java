package org.gramian.spd;

import org.gramian.basis.EnumWords;

/** Which formula a layer follows on the way back, where the one printed in the paper is not the derivative. */
public enum Backward {
    /** The derivative, for any upstream gradient. */
    EXACT,
    /** The formula of the paper, to reproduce it: {@link Rbf} and {@link UpperTriangle} say how it deviates. */
    PRINTED;

    /** The word, as {@code printed}. */
    public String text() {
        return EnumWords.text(this);
    }

    /** Reads {@link #text} back. */
    public static Backward parse(String text) {
        return EnumWords.parse(Backward.class, "the gradient", text);
    }
}
