package org.gramian.image.vp8;

import org.gramian.image.vp8.Quantizer.Steps;

/** Reads the coefficients of one block after another from tokens, multiplied by their factors (RFC 6386, section 13). */
final class TokenReader {
    /** Kind of a block of luma whose first coefficient is in the block of means. */
    static final int LUMA_REST = 0;

    /** Kind of the block of means. */
    static final int MEANS = 1;

    static final int CHROMA = 2;
    static final int LUMA = 3;

    /** Coefficients of a block. */
    static final int COUNT = 16;

    private static final int FORKS = 11;
    private static final int BAND_SIZE = 3 * FORKS;
    private static final int KIND_SIZE = 8 * BAND_SIZE;

    /** Where the probabilities of each place begin; those after the last are never used. */
    private static final int[] BANDS = new int[COUNT + 1];

    private static final int[] ZIGZAG = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};

    /** Probabilities of the bits that large values have beyond the least of their category, from the third category on. */
    private static final int[][] EXTRA_BITS = {
        {173, 148, 140},
        {176, 155, 140, 135},
        {180, 157, 141, 134, 130},
        {254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}
    };

    static {
        int[] band = {0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0};
        for (int i = 0; i < BANDS.length; i++) {
            BANDS[i] = BAND_SIZE * band[i];
        }
    }

    private final int[] probabilities;
    private final short[] coefficients;
    private BoolReader bits;

    /**
     * @param coefficients of all blocks of a macroblock, zeros when a block is read
     * @param bits where tokens are read from first
     */
    TokenReader(int[] probabilities, short[] coefficients, BoolReader bits) {
        this.probabilities = probabilities;
        this.coefficients = coefficients;
        this.bits = bits;
    }

    /** Goes on with the tokens of another partition. */
    void use(BoolReader other) {
        bits = other;
    }

    /** The place of the first coefficient of blocks of a kind. */
    static int first(int kind) {
        return kind == LUMA_REST ? 1 : 0;
    }

    /**
     * Reads one block.
     *
     * @param kind one of the kinds of blocks
     * @param block number of the block
     * @param context how many of the blocks above and to the left have coefficients
     * @return the place after the last coefficient; the first place of the kind if there is none
     */
    int read(int kind, int block, int context, Steps steps) {
        int base = KIND_SIZE * kind;
        int place = first(kind);
        int at = base + BANDS[place] + FORKS * context;
        while (place < COUNT) {
            if (bits.bit(probabilities[at]) == 0) {
                return place;
            }
            while (bits.bit(probabilities[at + 1]) == 0) {
                place++;
                if (place == COUNT) {
                    return COUNT;
                }
                at = base + BANDS[place];
            }
            int next = base + BANDS[place + 1];
            int value = 1;
            if (bits.bit(probabilities[at + 2]) == 0) {
                at = next + FORKS;
            } else {
                value = large(at);
                at = next + 2 * FORKS;
            }
            int factor = place == 0 ? steps.first() : steps.others();
            coefficients[COUNT * block + ZIGZAG[place]] = (short) (bits.flag() ? -value * factor : value * factor);
            place++;
        }
        return COUNT;
    }

    /** A value above one (section 13.2). */
    private int large(int at) {
        if (bits.bit(probabilities[at + 3]) == 0) {
            return bits.bit(probabilities[at + 4]) == 0 ? 2 : 3 + bits.bit(probabilities[at + 5]);
        }
        if (bits.bit(probabilities[at + 6]) == 0) {
            if (bits.bit(probabilities[at + 7]) == 0) {
                return 5 + bits.bit(159);
            }
            int high = bits.bit(165);
            return 7 + 2 * high + bits.bit(145);
        }
        int high = bits.bit(probabilities[at + 8]);
        int category = 2 * high + bits.bit(probabilities[at + 9 + high]);
        int extra = 0;
        for (int probability : EXTRA_BITS[category]) {
            extra = extra << 1 | bits.bit(probability);
        }
        return extra + 3 + (8 << category);
    }
}
