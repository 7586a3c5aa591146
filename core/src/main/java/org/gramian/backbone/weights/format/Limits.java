package org.gramian.backbone.weights.format;

/** How much memory a file may ask for, in proportion to its own size: weights hardly compress. */
final class Limits {
    /** The pickle of a state dictionary, without the data: a hundred bytes or two for each tensor. */
    static final int PICKLE_BYTES = 16 << 20;

    static final int ENTRIES = 100_000;

    /** Dimensions of a tensor. */
    static final int RANK = 64;

    /** Characters of a name: comparing longer ones again and again would take for ever. */
    static final int NAME_LENGTH = 10_000;

    /** Small files may unpack to this much, whatever the proportion. */
    private static final long SMALL = 64L << 20;

    private static final long PROPORTION = 16;

    private Limits() {}

    /** The most bytes that so many packed ones may become. */
    static long unpacked(long packed) {
        return Math.max(SMALL, packed > Long.MAX_VALUE / PROPORTION ? Long.MAX_VALUE : packed * PROPORTION);
    }
}
