package org.gramian.image.vp8;

/** Reconstructs macroblocks in the planes of the frame: prediction plus inverse DCT (RFC 6386, sections 12 and 14). */
final class Reconstruction {
    private static final int BLOCK = 4;
    private static final int COUNT = Residuals.COUNT;
    private static final int ABOVE_THE_FRAME = 0x7f7f7f7f;

    /** {@code √2·cos(π/8)} and {@code √2·sin(π/8)}, times 65,536. */
    private static final int COSINE = 85_627;

    private static final int SINE = 35_468;

    private final int[] columnTransform = new int[COUNT];
    private final Residuals residuals;
    private final int columns;
    private final Plane luma;
    private final IntraPrediction lumaPrediction;
    private final Plane[] chroma = new Plane[2];
    private final IntraPrediction[] chromaPrediction = new IntraPrediction[2];

    /** @param residuals the coefficients of the current macroblock */
    Reconstruction(FrameHeader.Tag tag, Residuals residuals) {
        this.residuals = residuals;
        columns = tag.columns();
        luma = new Plane(columns, tag.rows(), Macroblock.SIDE);
        lumaPrediction = new IntraPrediction(luma);
        for (int i = 0; i < chroma.length; i++) {
            chroma[i] = new Plane(columns, tag.rows(), Macroblock.SIDE / 2);
            chromaPrediction[i] = new IntraPrediction(chroma[i]);
        }
    }

    Plane luma() {
        return luma;
    }

    Plane[] chroma() {
        return chroma;
    }

    /** @param hasCoefficients whether there are residuals to add */
    void put(Macroblock block, int column, int row, boolean hasCoefficients) {
        int x = column * Macroblock.SIDE;
        int y = row * Macroblock.SIDE;
        if (block.hasSubblocks()) {
            subblocks(block, column, row, hasCoefficients);
        } else {
            lumaPrediction.macroblock(block.luma, x, y);
            if (hasCoefficients) {
                addBlocks(luma, 0, luma.at(x, y));
            }
        }
        for (int i = 0; i < chroma.length; i++) {
            chromaPrediction[i].macroblock(block.chroma, x / 2, y / 2);
            if (hasCoefficients) {
                addBlocks(chroma[i], Residuals.FIRST_CHROMA + 4 * i, chroma[i].at(x / 2, y / 2));
            }
        }
    }

    /** Each subblock is predicted from those before it, residuals included. */
    private void subblocks(Macroblock block, int column, int row, boolean hasCoefficients) {
        int corner = luma.at(column * Macroblock.SIDE, row * Macroblock.SIDE);
        int outer = aboveRight(column, row, corner);
        for (int i = 0; i < block.subblockModes.length; i++) {
            int x = i % Macroblock.BLOCKS;
            int first = corner + BLOCK * (x + i / Macroblock.BLOCKS * luma.stride());
            boolean last = x == Macroblock.BLOCKS - 1;
            int right = last ? outer : lumaPrediction.four(first - luma.stride() + BLOCK);
            lumaPrediction.subblock(block.subblockModes[i], first, right);
            if (hasCoefficients) {
                add(luma, i, first);
            }
        }
    }

    /**
     * Returns the samples above and to the right of the last column of subblocks. All four take those of the macroblock there,
     * since the ones beside the lower subblocks are not decoded yet. At the right border the last sample above is repeated,
     * as in libwebp.
     */
    private int aboveRight(int column, int row, int corner) {
        if (row == 0) {
            return ABOVE_THE_FRAME;
        }
        int next = corner - luma.stride() + Macroblock.SIDE;
        return column < columns - 1 ? lumaPrediction.four(next) : (luma.samples()[next - 1] & 0xff) * 0x01010101;
    }

    private void addBlocks(Plane plane, int firstBlock, int corner) {
        int side = plane.side() / BLOCK;
        for (int i = 0; i < side * side; i++) {
            add(plane, firstBlock + i, corner + BLOCK * (i % side + i / side * plane.stride()));
        }
    }

    private void add(Plane plane, int block, int first) {
        int dc = residuals.coefficients()[COUNT * block];
        if (residuals.hasAc(block)) {
            addInverseDct(plane, block, first);
        } else if (dc != 0) {
            int value = (dc + 4) >> 3;
            for (int i = 0; i < COUNT; i++) {
                increase(plane.samples(), first + i % 4 + i / 4 * plane.stride(), value);
            }
        }
    }

    /** Adds the inverse DCT of a block in the standard's integer arithmetic (section 14.4). */
    private void addInverseDct(Plane plane, int block, int first) {
        short[] coefficients = residuals.coefficients();
        int[] columnwise = columnTransform;
        for (int i = 0; i < 4; i++) {
            int at = COUNT * block + i;
            int even = coefficients[at] + coefficients[at + 8];
            int evenDifference = coefficients[at] - coefficients[at + 8];
            int second = coefficients[at + 4];
            int fourth = coefficients[at + 12];
            int oddDifference = times(second, SINE) - times(fourth, COSINE);
            int odd = times(second, COSINE) + times(fourth, SINE);
            columnwise[i] = even + odd;
            columnwise[4 + i] = evenDifference + oddDifference;
            columnwise[8 + i] = evenDifference - oddDifference;
            columnwise[12 + i] = even - odd;
        }
        byte[] samples = plane.samples();
        int to = first;
        for (int i = 0; i < COUNT; i += 4) {
            int rounded = columnwise[i] + 4;
            int even = rounded + columnwise[i + 2];
            int evenDifference = rounded - columnwise[i + 2];
            int oddDifference = times(columnwise[i + 1], SINE) - times(columnwise[i + 3], COSINE);
            int odd = times(columnwise[i + 1], COSINE) + times(columnwise[i + 3], SINE);
            increase(samples, to, (even + odd) >> 3);
            increase(samples, to + 1, (evenDifference + oddDifference) >> 3);
            increase(samples, to + 2, (evenDifference - oddDifference) >> 3);
            increase(samples, to + 3, (even - odd) >> 3);
            to += plane.stride();
        }
    }

    private static int times(int value, int factor) {
        return (value * factor) >> 16;
    }

    private static void increase(byte[] samples, int at, int change) {
        samples[at] = (byte) Plane.clamp((samples[at] & 0xff) + change);
    }
}
