package org.gramian.image;

/**
 * EXIF orientations, named by the transform of the upright image when it was stored. A stored pixel of column {@code u} and row {@code v}
 * in a {@code w×h} image is the upright pixel {@code (x, y)} with
 *
 * <pre>
 * 1  u = x          v = y            5  u = y          v = x
 * 2  u = w−1−x      v = y            6  u = y          v = h−1−x
 * 3  u = w−1−x      v = h−1−y        7  u = w−1−y      v = h−1−x
 * 4  u = x          v = h−1−y        8  u = w−1−y      v = x
 * </pre>
 *
 * <p>Reference: CIPA DC-008 (Exif 2.32), tag 274, Orientation.
 */
enum Orientation {
    UPRIGHT(1),
    MIRRORED(2),
    UPSIDE_DOWN(3),
    MIRRORED_UPSIDE_DOWN(4),
    TRANSPOSED(5),
    TURNED_LEFT(6),
    TRANSVERSED(7),
    TURNED_RIGHT(8);

    private final int number;

    Orientation(int number) {
        this.number = number;
    }

    /** Returns the orientation of an EXIF number. */
    static Orientation of(int number) {
        for (Orientation orientation : values()) {
            if (orientation.number == number) {
                return orientation;
            }
        }
        throw new IllegalArgumentException("expected an EXIF orientation from 1 to 8, found " + number);
    }

    /** Returns the EXIF number, 1 to 8. */
    int number() {
        return number;
    }

    /** Returns whether width and height are exchanged. */
    boolean swapsSides() {
        return number >= TRANSPOSED.number;
    }

    /** Transforms an image stored in this orientation to upright; returns an upright image itself. */
    Image upright(Image stored) {
        if (this == UPRIGHT) {
            return stored;
        }
        int width = stored.width();
        int height = stored.height();
        boolean lastColumn = this == MIRRORED || this == UPSIDE_DOWN || this == TRANSVERSED || this == TURNED_RIGHT;
        boolean lastRow =
                this == UPSIDE_DOWN || this == MIRRORED_UPSIDE_DOWN || this == TURNED_LEFT || this == TRANSVERSED;
        int alongRow = lastColumn ? -1 : 1;
        int alongColumn = lastRow ? -width : width;
        int start = (lastColumn ? width - 1 : 0) + (lastRow ? (height - 1) * width : 0);
        return swapsSides()
                ? gather(stored, new Walk(height, width, start), alongColumn, alongRow)
                : gather(stored, new Walk(width, height, start), alongRow, alongColumn);
    }

    /** Size of the result, and the stored pixel it starts with. */
    private record Walk(int width, int height, int start) {}

    private static Image gather(Image stored, Walk walk, int right, int down) {
        byte[] from = stored.rgb();
        byte[] to = new byte[from.length];
        int target = 0;
        for (int y = 0; y < walk.height; y++) {
            int source = 3 * (walk.start + y * down);
            for (int x = 0; x < walk.width; x++) {
                to[target++] = from[source];
                to[target++] = from[source + 1];
                to[target++] = from[source + 2];
                source += 3 * right;
            }
        }
        return new Image(walk.width, walk.height, to);
    }
}
