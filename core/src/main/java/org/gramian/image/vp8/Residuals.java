package org.gramian.image.vp8;

import java.util.Arrays;
import org.gramian.image.vp8.FrameHeader.Quantizer;
import org.gramian.image.vp8.FrameHeader.Quantizer.Steps;

/** Reads and dequantizes the DCT coefficients of a macroblock (RFC 6386, sections 13 and 14). */
final class Residuals {
    /** Coefficients of a block. */
    static final int COUNT = 16;

    /** Index of the first chroma block; the 16 luma blocks come before, the Y2 block after. */
    static final int FIRST_CHROMA = 16;

    private static final int Y2 = 24;

    // Block types, the first index of the token probabilities (section 13.3).
    private static final int LUMA_WITHOUT_DC = 0;
    private static final int Y2_TYPE = 1;
    private static final int CHROMA = 2;
    private static final int LUMA = 3;

    /** Context entries of a macroblock: four luma blocks, two of each chroma plane, Y2. */
    private static final int CONTEXTS = 9;

    private static final int Y2_CONTEXT = 8;

    private static final int NODES = 11;
    private static final int BAND_SIZE = 3 * NODES;
    private static final int TYPE_SIZE = 8 * BAND_SIZE;

    /** Offset of the probabilities of each coefficient; that after the last is never used. */
    private static final int[] BANDS = Arrays.stream(new int[] {0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0})
            .map(band -> BAND_SIZE * band)
            .toArray();

    private static final int[] ZIGZAG = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};

    /** Probabilities of the extra bits of the value categories 3 to 6 (section 13.2). */
    private static final int[][] EXTRA_BITS = {
        {173, 148, 140},
        {176, 155, 140, 135},
        {180, 157, 141, 134, 130},
        {254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}
    };

    private final short[] coefficients = new short[(Y2 + 1) * COUNT];

    /** Position after the last coefficient of each block. */
    private final int[] ends = new int[Y2];

    private final int[] probabilities;
    private final Quantizer[] quantizers;

    /** Whether blocks have coefficients, as 1 or 0: above the row of macroblocks, and left of the macroblock. */
    private final int[] above;

    private final int[] left = new int[CONTEXTS];
    private BoolDecoder bits;
    private int column;

    /** @param bits the partition of the first row */
    Residuals(FrameHeader header, BoolDecoder bits, int columns) {
        this.probabilities = header.probabilities();
        this.quantizers = header.quantizers();
        this.bits = bits;
        this.above = new int[CONTEXTS * columns];
    }

    void startRow(BoolDecoder partition) {
        bits = partition;
        Arrays.fill(left, 0);
    }

    /** Returns the coefficients of all blocks, {@code [block, 16]}. */
    short[] coefficients() {
        return coefficients;
    }

    /** Returns whether a block has AC coefficients. */
    boolean hasAc(int block) {
        return ends[block] > 1;
    }

    /**
     * Reads the coefficients of the next macroblock, which lies in the given column.
     *
     * @return whether any is not zero
     */
    boolean read(Macroblock block, int atColumn) {
        column = CONTEXTS * atColumn;
        if (block.skipped) {
            // A macroblock with subblock prediction has no Y2 block and keeps the context of the one before.
            int contexts = block.hasSubblocks() ? Y2_CONTEXT : CONTEXTS;
            Arrays.fill(left, 0, contexts, 0);
            Arrays.fill(above, column, column + contexts, 0);
            return false;
        }
        Arrays.fill(coefficients, (short) 0);
        Quantizer quantizer = quantizers[block.segment];
        int type = LUMA;
        if (!block.hasSubblocks()) {
            type = LUMA_WITHOUT_DC;
            if (block(Y2_TYPE, Y2, Y2_CONTEXT, Y2_CONTEXT, quantizer.y2()) > 0) {
                spreadDc();
            }
        }
        plane(type, 0, 0, quantizer.luma());
        plane(CHROMA, FIRST_CHROMA, 4, quantizer.chroma());
        plane(CHROMA, FIRST_CHROMA + 4, 6, quantizer.chroma());
        for (int i = 0; i < Y2; i++) {
            if (ends[i] > 1 || coefficients[COUNT * i] != 0) {
                return true;
            }
        }
        return false;
    }

    private void plane(int type, int firstBlock, int context, Steps steps) {
        int side = type == CHROMA ? 2 : Macroblock.BLOCKS;
        for (int i = 0; i < side * side; i++) {
            ends[firstBlock + i] = block(type, firstBlock + i, context + i % side, context + i / side, steps);
        }
    }

    private int block(int type, int block, int contextAbove, int contextLeft, Steps steps) {
        int end = tokens(type, block, above[column + contextAbove] + left[contextLeft], steps);
        int present = end > first(type) ? 1 : 0;
        above[column + contextAbove] = present;
        left[contextLeft] = present;
        return end;
    }

    private static int first(int type) {
        return type == LUMA_WITHOUT_DC ? 1 : 0;
    }

    /**
     * Reads the tokens of one block.
     *
     * @param context how many of the blocks above and to the left have coefficients
     * @return the position after the last coefficient; that of the first if there is none
     */
    private int tokens(int type, int block, int context, Steps steps) {
        int base = TYPE_SIZE * type;
        int i = first(type);
        int node = base + BANDS[i] + NODES * context;
        while (i < COUNT) {
            if (bits.bit(probabilities[node]) == 0) {
                return i;
            }
            while (bits.bit(probabilities[node + 1]) == 0) {
                i++;
                if (i == COUNT) {
                    return COUNT;
                }
                node = base + BANDS[i];
            }
            int next = base + BANDS[i + 1];
            int value = 1;
            if (bits.bit(probabilities[node + 2]) == 0) {
                node = next + NODES;
            } else {
                value = large(node);
                node = next + 2 * NODES;
            }
            int step = i == 0 ? steps.dc() : steps.ac();
            coefficients[COUNT * block + ZIGZAG[i]] = (short) (bits.flag() ? -value * step : value * step);
            i++;
        }
        return COUNT;
    }

    /** Reads a magnitude above one (section 13.2). */
    private int large(int node) {
        if (bits.bit(probabilities[node + 3]) == 0) {
            return bits.bit(probabilities[node + 4]) == 0 ? 2 : 3 + bits.bit(probabilities[node + 5]);
        }
        if (bits.bit(probabilities[node + 6]) == 0) {
            if (bits.bit(probabilities[node + 7]) == 0) {
                return 5 + bits.bit(159);
            }
            int high = bits.bit(165);
            return 7 + 2 * high + bits.bit(145);
        }
        int high = bits.bit(probabilities[node + 8]);
        int category = 2 * high + bits.bit(probabilities[node + 9 + high]);
        int extra = 0;
        for (int probability : EXTRA_BITS[category]) {
            extra = extra << 1 | bits.bit(probability);
        }
        return extra + 3 + (8 << category);
    }

    /** Sets the DC coefficients of the luma blocks to the inverse Walsh–Hadamard transform of Y2 (section 14.3). */
    private void spreadDc() {
        int[] columns = new int[COUNT];
        for (int i = 0; i < 4; i++) {
            int at = COUNT * Y2 + i;
            int a = coefficients[at] + coefficients[at + 12];
            int b = coefficients[at + 4] + coefficients[at + 8];
            int c = coefficients[at + 4] - coefficients[at + 8];
            int d = coefficients[at] - coefficients[at + 12];
            columns[i] = a + b;
            columns[4 + i] = d + c;
            columns[8 + i] = a - b;
            columns[12 + i] = d - c;
        }
        for (int i = 0; i < COUNT; i += 4) {
            int rounded = columns[i] + 3;
            int a = rounded + columns[i + 3];
            int b = columns[i + 1] + columns[i + 2];
            int c = columns[i + 1] - columns[i + 2];
            int d = rounded - columns[i + 3];
            int target = COUNT * i;
            coefficients[target] = (short) ((a + b) >> 3);
            coefficients[target + COUNT] = (short) ((d + c) >> 3);
            coefficients[target + 2 * COUNT] = (short) ((a - b) >> 3);
            coefficients[target + 3 * COUNT] = (short) ((d - c) >> 3);
        }
    }
}
