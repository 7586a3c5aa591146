package org.gramian.spd;

import org.gramian.basis.EnumWords;

/** Backward formula of a layer, where the one printed in the paper is not the derivative. */
public enum Backward {
    /** The derivative, for any upstream gradient. */
    EXACT,
    /** The formula of the paper, to reproduce it; {@link Rbf} and {@code docs/mathematics.md} describe how it deviates. */
    PRINTED;

    /** Returns the name, such as {@code printed}. */
    public String text() {
        return EnumWords.text(this);
    }

    /** Parses the result of {@link #text}. */
    public static Backward parse(String text) {
        return EnumWords.parse(Backward.class, "the gradient", text);
    }
}
