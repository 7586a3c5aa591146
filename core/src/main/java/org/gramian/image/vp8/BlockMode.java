package org.gramian.image.vp8;

/** The numbers of the ways to predict a block of 4×4 samples, and the tree that tells them (RFC 6386, section 11.2). */
final class BlockMode {
    static final int MEAN = 0;
    static final int GRADIENT = 1;
    static final int VERTICAL = 2;
    static final int HORIZONTAL = 3;
    static final int LEFT_DOWN = 4;
    static final int RIGHT_DOWN = 5;
    static final int VERTICAL_RIGHT = 6;
    static final int VERTICAL_LEFT = 7;
    static final int HORIZONTAL_DOWN = 8;
    static final int HORIZONTAL_UP = 9;

    private static final int COUNT = 10;

    /** The two ways on from each fork: to another fork, or to the negative of a mode. */
    private static final int[][] TREE = {
        {-MEAN, 1},
        {-GRADIENT, 2},
        {-VERTICAL, 3},
        {4, 6},
        {-HORIZONTAL, 5},
        {-RIGHT_DOWN, -VERTICAL_RIGHT},
        {-LEFT_DOWN, 7},
        {-VERTICAL_LEFT, 8},
        {-HORIZONTAL_DOWN, -HORIZONTAL_UP}
    };

    private BlockMode() {}

    /** The next mode, where those of the blocks above and to the left are known. */
    static int next(BoolReader bits, int above, int left) {
        int row = (COUNT * above + left) * (COUNT - 1);
        int fork = 0;
        do {
            fork = TREE[fork][bits.bit(ModeProbabilities.TABLE[row + fork])];
        } while (fork > 0);
        return -fork;
    }
}
