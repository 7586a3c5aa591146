package org.gramian.image.vp8;

/**
 * The up to four kinds of macroblocks, each with its own quantizer and filter (RFC 6386, section 9.3).
 *
 * @param used whether there are several kinds at all
 * @param mapped whether each macroblock says which kind it is of
 * @param absolute whether quantizers and strengths stand for themselves, rather than being added to those of the frame
 * @param quantizers quantizer index of each kind
 * @param strengths strength of the filter of each kind
 * @param probabilities of the three forks of the tree that tells the kind
 */
@SuppressWarnings("ArrayRecordComponent") // read only, and never compared
record Segments(
        boolean used, boolean mapped, boolean absolute, int[] quantizers, int[] strengths, int[] probabilities) {
    static final int COUNT = 4;

    static Segments read(BoolReader bits) {
        int[] quantizers = new int[COUNT];
        int[] strengths = new int[COUNT];
        int[] probabilities = {255, 255, 255};
        boolean used = bits.flag();
        boolean mapped = used && bits.flag();
        boolean absolute = true;
        if (used && bits.flag()) {
            absolute = bits.flag();
            for (int i = 0; i < COUNT; i++) {
                quantizers[i] = bits.optional(7);
            }
            for (int i = 0; i < COUNT; i++) {
                strengths[i] = bits.optional(6);
            }
        }
        for (int i = 0; mapped && i < probabilities.length; i++) {
            probabilities[i] = bits.flag() ? bits.number(8) : 255;
        }
        return new Segments(used, mapped, absolute, quantizers, strengths, probabilities);
    }

    /** Which kind the next macroblock is of (section 10). */
    int next(BoolReader bits) {
        if (!mapped) {
            return 0;
        }
        return bits.bit(probabilities[0]) == 0 ? bits.bit(probabilities[1]) : 2 + bits.bit(probabilities[2]);
    }

    /** The quantizer index of a kind, where that of the frame is given; it may lie outside of the table. */
    int quantizer(int segment, int ofFrame) {
        return value(quantizers, segment, ofFrame);
    }

    /** The strength of the filter of a kind, where that of the frame is given; it may be out of range. */
    int strength(int segment, int ofFrame) {
        return value(strengths, segment, ofFrame);
    }

    private int value(int[] values, int segment, int ofFrame) {
        if (!used) {
            return ofFrame;
        }
        return absolute ? values[segment] : values[segment] + ofFrame;
    }
}
