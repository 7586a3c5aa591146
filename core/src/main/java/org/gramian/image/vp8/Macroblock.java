package org.gramian.image.vp8;

/** What is known of the macroblock at hand, of 16×16 samples of luma and twice 8×8 of chroma; used for one after another. */
final class Macroblock {
    /** Columns and rows of luma. */
    static final int SIDE = 16;

    /** Blocks of luma in a row. */
    static final int BLOCKS = 4;

    int segment;
    boolean skipped;
    Mode luma = Mode.MEAN;
    Mode chroma = Mode.MEAN;

    /** Of each block of a divided macroblock, row by row. */
    final int[] blockModes = new int[BLOCKS * BLOCKS];

    boolean divided() {
        return luma == Mode.DIVIDED;
    }
}
