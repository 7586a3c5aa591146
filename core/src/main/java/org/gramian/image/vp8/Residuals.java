package org.gramian.image.vp8;

import java.util.Arrays;

/**
 * Reads what is to be added to the prediction of a macroblock: the coefficients of its 24 blocks (RFC 6386, sections 13 and
 * 14).
 */
final class Residuals {
    /** Numbers of the first block of either chroma plane; those of luma come before, the block of means after. */
    static final int FIRST_CHROMA = 16;

    private static final int MEANS = 24;

    /** Entries for what is above or to the left of a macroblock: four blocks of luma, two of either chroma, one of means. */
    private static final int EDGE = 9;

    private static final int MEANS_EDGE = 8;

    private final short[] coefficients = new short[(MEANS + 1) * TokenReader.COUNT];
    private final int[] ends = new int[MEANS];
    private final TokenReader tokens;
    private final Quantizer[] quantizers;

    /** Whether blocks have coefficients, as 1 or 0. */
    private final int[] above;

    private final int[] left = new int[EDGE];
    private int column;
    private Quantizer quantizer;

    Residuals(FrameHeader header, BoolReader bits, int columns) {
        this.tokens = new TokenReader(header.probabilities(), coefficients, bits);
        this.quantizers = header.quantizers();
        this.quantizer = quantizers[0];
        this.above = new int[EDGE * columns];
    }

    void startRow(BoolReader bits) {
        tokens.use(bits);
        Arrays.fill(left, 0);
    }

    /** Coefficients of all blocks, 16 each, row by row. */
    short[] coefficients() {
        return coefficients;
    }

    /** Whether a block has other coefficients than the first. */
    boolean isFull(int block) {
        return ends[block] > 1;
    }

    /**
     * Reads the macroblock of a column, the next in order.
     *
     * @return whether anything is to be added
     */
    boolean read(Macroblock block, int atColumn) {
        column = EDGE * atColumn;
        if (block.skipped) {
            skip(block);
            return false;
        }
        Arrays.fill(coefficients, (short) 0);
        quantizer = quantizers[block.segment];
        int kind = TokenReader.LUMA;
        if (!block.divided()) {
            kind = TokenReader.LUMA_REST;
            int end = block(TokenReader.MEANS, MEANS, MEANS_EDGE, MEANS_EDGE);
            if (end > 0) {
                Transforms.spreadMeans(coefficients, TokenReader.COUNT * MEANS);
            }
        }
        square(kind, 0, 0);
        square(TokenReader.CHROMA, FIRST_CHROMA, 4);
        square(TokenReader.CHROMA, FIRST_CHROMA + 4, 6);
        return isAnyPresent();
    }

    private void skip(Macroblock block) {
        // A divided macroblock has no means, and hands on what was said of those before it.
        int edge = block.divided() ? MEANS_EDGE : EDGE;
        Arrays.fill(left, 0, edge, 0);
        Arrays.fill(above, column, column + edge, 0);
    }

    /** Reads the blocks of a plane. */
    private void square(int kind, int firstBlock, int edge) {
        int side = kind == TokenReader.CHROMA ? 2 : Macroblock.BLOCKS;
        for (int y = 0; y < side; y++) {
            for (int x = 0; x < side; x++) {
                int number = firstBlock + side * y + x;
                ends[number] = block(kind, number, edge + x, edge + y);
            }
        }
    }

    private int block(int kind, int number, int edgeAbove, int edgeLeft) {
        int context = above[column + edgeAbove] + left[edgeLeft];
        int end = tokens.read(kind, number, context, quantizer.of(kind));
        int present = end > TokenReader.first(kind) ? 1 : 0;
        above[column + edgeAbove] = present;
        left[edgeLeft] = present;
        return end;
    }

    private boolean isAnyPresent() {
        for (int i = 0; i < MEANS; i++) {
            if (ends[i] > 1 || coefficients[TokenReader.COUNT * i] != 0) {
                return true;
            }
        }
        return false;
    }
}
