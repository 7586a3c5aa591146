package org.gramian.image.vp8;

import java.util.Arrays;

/** Header of the current macroblock, 16×16 samples of luma and two times 8×8 of chroma. */
final class Macroblock {
    /** Columns and rows of luma. */
    static final int SIDE = 16;

    /** Luma subblocks in a row. */
    static final int BLOCKS = 4;

    /** Prediction modes of a macroblock, luma or chroma (RFC 6386, section 11.2). */
    enum Mode {
        DC(DC_PRED),
        VERTICAL(VE_PRED),
        HORIZONTAL(HE_PRED),
        TRUE_MOTION(TM_PRED),
        /** Each luma subblock has its own mode. */
        SUBBLOCKS(DC_PRED);

        /** The subblock mode that neighbouring macroblocks see as context. */
        private final int context;

        Mode(int context) {
            this.context = context;
        }
    }

    // Prediction modes of a subblock (section 11.2, B_DC_PRED to B_HU_PRED).
    static final int DC_PRED = 0;
    static final int TM_PRED = 1;
    static final int VE_PRED = 2;
    static final int HE_PRED = 3;
    static final int LD_PRED = 4;
    static final int RD_PRED = 5;
    static final int VR_PRED = 6;
    static final int VL_PRED = 7;
    static final int HD_PRED = 8;
    static final int HU_PRED = 9;

    private static final int MODES = 10;

    /** Children of each node of the tree of subblock modes: another node, or the negative of a mode. */
    private static final int[][] MODE_TREE = {
        {-DC_PRED, 1},
        {-TM_PRED, 2},
        {-VE_PRED, 3},
        {4, 6},
        {-HE_PRED, 5},
        {-RD_PRED, -VR_PRED},
        {-LD_PRED, 7},
        {-VL_PRED, 8},
        {-HD_PRED, -HU_PRED}
    };

    int segment;
    boolean skipped;
    Mode luma = Mode.DC;
    Mode chroma = Mode.DC;

    /** Mode of each subblock, row by row; used with {@link Mode#SUBBLOCKS}. */
    final int[] subblockModes = new int[BLOCKS * BLOCKS];

    boolean hasSubblocks() {
        return luma == Mode.SUBBLOCKS;
    }

    /** Reads macroblock headers in order (RFC 6386, sections 10, 11 and 19.3). */
    static final class Reader {
        private final BoolDecoder bits;
        private final FrameHeader header;

        /** Subblock modes above the current row of macroblocks, and to the left of the current macroblock. */
        private final int[] above;

        private final int[] left = new int[BLOCKS];

        Reader(BoolDecoder bits, FrameHeader header, int columns) {
            this.bits = bits;
            this.header = header;
            this.above = new int[BLOCKS * columns];
        }

        void startRow() {
            Arrays.fill(left, DC_PRED);
        }

        /** Reads the next macroblock, which lies in the given column. */
        void read(Macroblock block, int column) {
            block.segment = header.segments().next(bits);
            block.skipped = header.skipping() != FrameHeader.NO_SKIPPING && bits.bit(header.skipping()) != 0;
            block.luma = lumaMode();
            int from = BLOCKS * column;
            if (block.hasSubblocks()) {
                for (int i = 0; i < BLOCKS * BLOCKS; i++) {
                    int x = from + i % BLOCKS;
                    int y = i / BLOCKS;
                    int mode = subblockMode(above[x], left[y]);
                    above[x] = mode;
                    left[y] = mode;
                    block.subblockModes[i] = mode;
                }
            } else {
                Arrays.fill(above, from, from + BLOCKS, block.luma.context);
                Arrays.fill(left, block.luma.context);
            }
            block.chroma = chromaMode();
        }

        private Mode lumaMode() {
            if (bits.bit(145) == 0) {
                return Mode.SUBBLOCKS;
            }
            if (bits.bit(156) == 0) {
                return bits.bit(163) == 0 ? Mode.DC : Mode.VERTICAL;
            }
            return bits.bit(128) == 0 ? Mode.HORIZONTAL : Mode.TRUE_MOTION;
        }

        private Mode chromaMode() {
            if (bits.bit(142) == 0) {
                return Mode.DC;
            }
            if (bits.bit(114) == 0) {
                return Mode.VERTICAL;
            }
            return bits.bit(183) == 0 ? Mode.HORIZONTAL : Mode.TRUE_MOTION;
        }

        private int subblockMode(int modeAbove, int modeLeft) {
            int row = (MODES * modeAbove + modeLeft) * (MODES - 1);
            int node = 0;
            do {
                node = MODE_TREE[node][bits.bit(Tables.SUBBLOCK_MODES[row + node])];
            } while (node > 0);
            return -node;
        }
    }
}
