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

    /**
     * What a quantizer index stands for: the factor of the first coefficient of a block and that of the others (RFC 6386, section
     * 14.1).
     */
    private static final class StepSizes {
        /** Of the first coefficient, for each index from 0 to 127. */
        static final int[] FIRST = Numbers.of("""
                4 5 6 7 8 9 10 10 11 12 13 14 15 16 17 17
                18 19 20 20 21 21 22 22 23 23 24 25 25 26 27 28
                29 30 31 32 33 34 35 36 37 37 38 39 40 41 42 43
                44 45 46 46 47 48 49 50 51 52 53 54 55 56 57 58
                59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74
                75 76 76 77 78 79 80 81 82 83 84 85 86 87 88 89
                91 93 95 96 98 100 101 102 104 106 108 110 112 114 116 118
                122 124 126 128 130 132 134 136 138 140 143 145 148 151 154 157
                """);

        /** Of the other coefficients, for each index from 0 to 127. */
        static final int[] OTHERS = Numbers.of("""
                4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
                20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35
                36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51
                52 53 54 55 56 57 58 60 62 64 66 68 70 72 74 76
                78 80 82 84 86 88 90 92 94 96 98 100 102 104 106 108
                110 112 114 116 119 122 125 128 131 134 137 140 143 146 149 152
                155 158 161 164 167 170 173 177 181 185 189 193 197 201 205 209
                213 217 221 225 229 234 239 245 249 254 259 264 269 274 279 284
                """);

        private StepSizes() {}
    }
}
