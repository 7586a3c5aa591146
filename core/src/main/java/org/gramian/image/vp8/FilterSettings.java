package org.gramian.image.vp8;

/**
 * How strongly the edges of blocks are smoothed (RFC 6386, sections 9.4 and 15.1).
 *
 * @param simple whether the simple filter is used, which smooths luma only
 * @param level strength, 0 to 63; at 0 nothing is filtered
 * @param sharpness 0 to 7, how much the filter holds back inside of blocks
 * @param change what is added to the strength in every macroblock of a key frame
 * @param changeOfDivided what is added besides in a macroblock whose blocks are predicted one by one
 */
record FilterSettings(boolean simple, int level, int sharpness, int change, int changeOfDivided) {
    private static final int MOST_LEVEL = 63;
    private static final int CHANGES = 4;

    static FilterSettings read(BoolReader bits) {
        boolean simple = bits.flag();
        int level = bits.number(6);
        int sharpness = bits.number(3);
        int[] changes = new int[2 * CHANGES];
        boolean changing = bits.flag();
        if (changing && bits.flag()) {
            for (int i = 0; i < changes.length; i++) {
                changes[i] = bits.optional(6);
            }
        }
        // Of the changes by reference frame the first is that of key frames; of those by mode, that of divided
        // macroblocks.
        return new FilterSettings(simple, level, sharpness, changes[0], changes[CHANGES]);
    }

    /**
     * What a macroblock is filtered by.
     *
     * @param limit largest step across an edge inside that is smoothed; 0 if none is
     * @param interior largest step beside an edge
     * @param variance step beside the edge above which only the samples next to it are changed
     */
    record Strength(int limit, int interior, int variance) {}

    Strength of(Segments segments, int segment, boolean divided) {
        int raw = segments.strength(segment, level) + change + (divided ? changeOfDivided : 0);
        int strength = Math.clamp(raw, 0, MOST_LEVEL);
        if (strength == 0) {
            return new Strength(0, 0, 0);
        }
        int interior = strength;
        if (sharpness > 0) {
            interior = Math.min(interior >> (sharpness > 4 ? 2 : 1), 9 - sharpness);
        }
        interior = Math.max(interior, 1);
        int variance = strength >= 40 ? 2 : strength >= 15 ? 1 : 0;
        return new Strength(2 * strength + interior, interior, variance);
    }
}
