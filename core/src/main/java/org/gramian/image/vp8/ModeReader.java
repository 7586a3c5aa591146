package org.gramian.image.vp8;

import java.util.Arrays;

/** Reads how each macroblock is predicted (RFC 6386, sections 10, 11 and 19.3). */
final class ModeReader {
    private final BoolReader bits;
    private final FrameHeader header;

    /** Modes of the blocks above the row of macroblocks, and of those to the left of the macroblock. */
    private final int[] above;

    private final int[] left = new int[Macroblock.BLOCKS];

    ModeReader(BoolReader bits, FrameHeader header, int columns) {
        this.bits = bits;
        this.header = header;
        this.above = new int[Macroblock.BLOCKS * columns];
    }

    void startRow() {
        Arrays.fill(left, BlockMode.MEAN);
    }

    /** Reads the macroblock of a column, the next in order. */
    void read(Macroblock block, int column) {
        block.segment = header.segments().next(bits);
        block.skipped = header.skipping() != FrameHeader.NO_SKIPPING && bits.bit(header.skipping()) != 0;
        block.luma = luma();
        int from = Macroblock.BLOCKS * column;
        if (block.divided()) {
            divided(block.blockModes, from);
        } else {
            Arrays.fill(above, from, from + Macroblock.BLOCKS, block.luma.ofBlocks());
            Arrays.fill(left, block.luma.ofBlocks());
        }
        block.chroma = chroma();
    }

    private Mode luma() {
        if (bits.bit(145) == 0) {
            return Mode.DIVIDED;
        }
        if (bits.bit(156) == 0) {
            return bits.bit(163) == 0 ? Mode.MEAN : Mode.VERTICAL;
        }
        return bits.bit(128) == 0 ? Mode.HORIZONTAL : Mode.GRADIENT;
    }

    private Mode chroma() {
        if (bits.bit(142) == 0) {
            return Mode.MEAN;
        }
        if (bits.bit(114) == 0) {
            return Mode.VERTICAL;
        }
        return bits.bit(183) == 0 ? Mode.HORIZONTAL : Mode.GRADIENT;
    }

    private void divided(int[] modes, int from) {
        for (int y = 0; y < Macroblock.BLOCKS; y++) {
            for (int x = 0; x < Macroblock.BLOCKS; x++) {
                int mode = BlockMode.next(bits, above[from + x], left[y]);
                above[from + x] = mode;
                left[y] = mode;
                modes[Macroblock.BLOCKS * y + x] = mode;
            }
        }
    }
}
