package org.gramian.pooling;

import org.gramian.basis.EnumWords;

/**
 * A published way from feature maps to a decision, under the name that users type.
 *
 * @param name the name, as {@code bcnn}
 * @param title what it is called in tables
 * @param family what it belongs to
 * @param pooling the text of its pooling, see {@link Pooling#parse}
 * @param classifier the classifier that it is published with, as {@code softmax} or {@code svm}
 * @param formula what it computes, in one line
 * @param reference where it is published
 */
public record Method(
        String name, String title, Family family, String pooling, String classifier, String formula, String reference) {
    /** The classifier that is trained with everything before it. */
    public static final String SOFTMAX = "softmax";

    /** What methods have in common. */
    public enum Family {
        /** The system of the paper and its ablations. */
        KERNEL,
        /** Other matrices of second-order statistics, and what is made of them. */
        SECOND_ORDER,
        /** Statistics of each map by itself. */
        FIRST_ORDER,
        /** Positions compared with a vocabulary. */
        CODEBOOK,
        /** The layers of the network that follow the cut. */
        NETWORK;

        /** The word, as {@code second-order}. */
        public String text() {
            return EnumWords.text(this);
        }

        /** Reads {@link #text} back. */
        public static Family parse(String text) {
            return EnumWords.parse(Family.class, "the family", text);
        }
    }

    /** With softmax. */
    Method(String name, String title, Family family, String pooling, String formula, String reference) {
        this(name, title, family, pooling, SOFTMAX, formula, reference);
    }
}
