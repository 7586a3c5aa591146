package org.gramian.image.vp8;

/**
 * The ways to predict a macroblock, luma or chroma, from the samples above and to the left (RFC 6386, sections 11.2 and
 * 11.4).
 */
enum Mode {
    /** All samples are the mean of those above and to the left. */
    MEAN(BlockMode.MEAN),
    /** Every row is the one above. */
    VERTICAL(BlockMode.VERTICAL),
    /** Every column is the one to the left. */
    HORIZONTAL(BlockMode.HORIZONTAL),
    /** Above plus left minus corner. */
    GRADIENT(BlockMode.GRADIENT),
    /** Each block of 4×4 samples of luma has a {@link BlockMode} of its own. */
    DIVIDED(BlockMode.MEAN);

    private final int ofBlocks;

    Mode(int ofBlocks) {
        this.ofBlocks = ofBlocks;
    }

    /** The mode that the blocks of such a macroblock have in the eyes of their neighbours. */
    int ofBlocks() {
        return ofBlocks;
    }
}
