package org.gramian.image.vp8;

/**
 * The factors that coefficients are multiplied by, first and others apart (RFC 6386, sections 9.6 and 14.1).
 *
 * @param luma of the blocks of luma
 * @param means of the block that holds the first coefficients of all blocks of luma
 * @param chroma of the blocks of chroma
 */
record Quantizer(Steps luma, Steps means, Steps chroma) {
    private static final int MOST_INDEX = 127;

    /** The factors of chroma's first coefficient end early. */
    private static final int MOST_CHROMA_INDEX = 117;

    /** The factors of one kind of blocks. */
    record Steps(int first, int others) {}

    /** The factors of a kind of blocks, as {@link TokenReader} numbers them. */
    Steps of(int kind) {
        return switch (kind) {
            case TokenReader.MEANS -> means;
            case TokenReader.CHROMA -> chroma;
            default -> luma;
        };
    }

    /** Reads the quantizers of all segments. */
    static Quantizer[] read(BoolReader bits, Segments segments) {
        int base = bits.number(7);
        int[] changes = new int[5];
        for (int i = 0; i < changes.length; i++) {
            changes[i] = bits.optional(4);
        }
        Quantizer[] quantizers = new Quantizer[Segments.COUNT];
        for (int i = 0; i < quantizers.length; i++) {
            quantizers[i] = of(segments.quantizer(i, base), changes);
        }
        return quantizers;
    }

    private static Quantizer of(int index, int[] changes) {
        Steps luma = new Steps(first(index + changes[0], MOST_INDEX), others(index));
        int others = Math.max(8, others(index + changes[2]) * 155 / 100);
        Steps means = new Steps(2 * first(index + changes[1], MOST_INDEX), others);
        Steps chroma = new Steps(first(index + changes[3], MOST_CHROMA_INDEX), others(index + changes[4]));
        return new Quantizer(luma, means, chroma);
    }

    private static int first(int index, int most) {
        return StepSizes.FIRST[Math.clamp(index, 0, most)];
    }

    private static int others(int index) {
        return StepSizes.OTHERS[Math.clamp(index, 0, MOST_INDEX)];
    }
}
