package org.gramian.spd;

/** Backward formula of a layer, where the one printed in the paper is not the derivative. */
public enum Backward {
    /** The derivative, for any upstream gradient. */
    EXACT,
    /** The formula of the paper, to reproduce it; {@link Rbf} and {@code docs/mathematics.md} describe how it deviates. */
    PRINTED
}
