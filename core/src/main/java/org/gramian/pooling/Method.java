package org.gramian.pooling;

import org.gramian.basis.EnumWords;

/**
 * Published pooling method with its classifier, selected by name.
 *
 * @param name name on the command line, such as {@code bcnn}
 * @param title name in tables
 * @param family group of related methods
 * @param pooling text of its pooling, see {@link Pooling#parse}
 * @param classifier classifier of the publication, such as {@code softmax} or {@code svm}
 * @param formula what it computes, in one line
 * @param reference publication
 */
public record Method(
        String name, String title, Family family, String pooling, String classifier, String formula, String reference) {
    /** Softmax classifier, trained jointly with the layers before it. */
    public static final String SOFTMAX = "softmax";

    /** Group of related methods. */
    public enum Family {
        /** The method of the paper and its ablations. */
        KERNEL,
        /** Other matrices of second-order statistics. */
        SECOND_ORDER,
        /** Statistics of each channel by itself. */
        FIRST_ORDER,
        /** Positions compared with a vocabulary. */
        CODEBOOK,
        /** The network's own layers after the feature layer. */
        NETWORK;

        /** Returns the name, such as {@code second-order}. */
        public String text() {
            return EnumWords.text(this);
        }
    }
}
