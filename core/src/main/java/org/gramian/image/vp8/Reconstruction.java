package org.gramian.image.vp8;

/** Puts macroblocks into the planes of the frame: prediction plus residuals (RFC 6386, sections 12 and 14.5). */
final class Reconstruction {
    private static final int BLOCK = 4;
    private static final int ABOVE_THE_FRAME = 0x7f7f7f7f;

    private final Plane luma;
    private final Plane[] chroma;
    private final int columns;
    private final BlockPrediction blocks;
    private final Transforms transforms = new Transforms();

    Reconstruction(FrameTag tag) {
        columns = tag.columns();
        luma = new Plane(columns, tag.rows(), Macroblock.SIDE);
        chroma = new Plane[] {
            new Plane(columns, tag.rows(), Macroblock.SIDE / 2), new Plane(columns, tag.rows(), Macroblock.SIDE / 2)
        };
        blocks = new BlockPrediction(luma);
    }

    Plane luma() {
        return luma;
    }

    Plane[] chroma() {
        return chroma;
    }

    /** The next macroblock, and where it is. */
    record Place(int column, int row) {}

    /** @param added whether there are residuals to add */
    void put(Macroblock block, Place place, Residuals residuals, boolean added) {
        int x = place.column * Macroblock.SIDE;
        int y = place.row * Macroblock.SIDE;
        if (block.divided()) {
            divided(block, place, residuals, added);
        } else {
            Prediction.fill(luma, block.luma, x, y);
            if (added) {
                square(luma, residuals, 0, luma.at(x, y));
            }
        }
        for (int i = 0; i < chroma.length; i++) {
            Prediction.fill(chroma[i], block.chroma, x / 2, y / 2);
            if (added) {
                square(chroma[i], residuals, Residuals.FIRST_CHROMA + 4 * i, chroma[i].at(x / 2, y / 2));
            }
        }
    }

    /** Each block is predicted from those before it, residuals included. */
    private void divided(Macroblock block, Place place, Residuals residuals, boolean added) {
        int corner = luma.at(place.column * Macroblock.SIDE, place.row * Macroblock.SIDE);
        int outer = right(place, corner);
        for (int i = 0; i < block.blockModes.length; i++) {
            int column = i % Macroblock.BLOCKS;
            int first = corner + BLOCK * (column + i / Macroblock.BLOCKS * luma.stride());
            boolean last = column == Macroblock.BLOCKS - 1;
            int right = last ? outer : blocks.four(first - luma.stride() + BLOCK);
            blocks.fill(block.blockModes[i], first, right);
            if (added) {
                add(luma, residuals, i, first);
            }
        }
    }

    /**
     * The samples above and to the right of the last column of blocks, all of which take those of the macroblock there, since the
     * ones beside the lower blocks are not decoded yet. At the right border the last sample above is repeated, as libwebp does.
     */
    private int right(Place place, int corner) {
        if (place.row == 0) {
            return ABOVE_THE_FRAME;
        }
        int next = corner - luma.stride() + Macroblock.SIDE;
        return place.column < columns - 1 ? blocks.four(next) : (luma.samples()[next - 1] & 0xff) * 0x01010101;
    }

    private void square(Plane plane, Residuals residuals, int firstBlock, int corner) {
        int side = plane.side() / BLOCK;
        for (int i = 0; i < side * side; i++) {
            add(plane, residuals, firstBlock + i, corner + BLOCK * (i % side + i / side * plane.stride()));
        }
    }

    private void add(Plane plane, Residuals residuals, int block, int first) {
        short[] coefficients = residuals.coefficients();
        if (residuals.isFull(block)) {
            transforms.add(coefficients, block, plane, first);
        } else if (coefficients[TokenReader.COUNT * block] != 0) {
            Transforms.addFirst(coefficients[TokenReader.COUNT * block], plane, first);
        }
    }
}
