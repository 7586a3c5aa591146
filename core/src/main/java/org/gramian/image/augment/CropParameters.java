package org.gramian.image.augment;

/**
 * Random parameters of one augmented crop: its position in the stored image, its colour changes and its erased rectangle.
 *
 * <p>The CUDA kernels read them as a row of numbers ({@link #write}); {@code augment.cu} defines the same indices.
 *
 * @param erased rectangle of the crop that becomes the mean colour, which is 0 after preprocessing
 */
public record CropParameters(Affine map, Colours colours, Rectangle erased) {
    /** Number of values of a row. */
    public static final int COUNT = 18;

    /**
     * Affine map: the centre {@code (x + ½, y + ½)} of the crop's pixel has the source coordinates {@code u = xx·(x + ½) +
     * xy·(y + ½) + x0} and {@code v = yx·(x + ½) + yy·(y + ½) + y0}, in which pixel (i, j) of the image has its centre at
     * {@code (i + ½, j + ½)}. float32, as the GPU reads it.
     */
    public record Affine(float xx, float xy, float x0, float yx, float yy, float y0) {
        /** Returns whether columns of the crop depend on columns of the image only, and rows on rows. */
        boolean separable() {
            return xy == 0 && yx == 0;
        }

        /** Returns the half-width of the filter along a row of the image: 1, or the reduction factor if it is greater. */
        float supportX() {
            return (float) Math.max(1, Math.sqrt((double) xx * xx + (double) xy * xy));
        }

        /** Returns the half-width of the filter along a column of the image. */
        float supportY() {
            return (float) Math.max(1, Math.sqrt((double) yx * yx + (double) yy * yy));
        }
    }

    /**
     * Colour changes. Bytes of the stored image are reduced to {@code mask} and inverted from {@code solarize} on; the crop's
     * values v, with its mean m over all pixels and channels and its 3×3 blur, become
     *
     * <pre>
     * v ← blur + sharpness·(v − blur)
     * v ← luma + saturation·(v − luma)            luma = 0.299 R + 0.587 G + 0.114 B
     * v ← m + contrast·(v − m) + brightness       clamped to 0..255
     * </pre>
     *
     * @param contrast factor, 1 for none
     * @param brightness summand in levels of 0..255
     * @param saturation factor, 1 for none
     * @param sharpness factor, 1 for none
     * @param mask bits of a byte that are kept, 255 for all
     * @param solarize first byte that is inverted, 256 for none
     */
    public record Colours(float contrast, float brightness, float saturation, float sharpness, int mask, int solarize) {
        public static final Colours IDENTITY = new Colours(1, 0, 1, 1, 255, 256);

        /** Returns the level of a byte of the stored image after masking and solarizing. */
        float level(int value) {
            int kept = value & mask;
            return kept >= solarize ? 255 - kept : kept;
        }
    }

    /** Pixels of a crop with {@code left ≤ x < right} and {@code top ≤ y < bottom}. */
    public record Rectangle(int left, int top, int right, int bottom) {
        public static final Rectangle NONE = new Rectangle(0, 0, 0, 0);

        boolean contains(int x, int y) {
            return x >= left && x < right && y >= top && y < bottom;
        }

        public int area() {
            return (right - left) * (bottom - top);
        }
    }

    /** Writes the row of {@link #COUNT} numbers that a GPU reads. */
    void write(float[] rows, int at) {
        float[] row = {
            map.xx,
            map.xy,
            map.x0,
            map.yx,
            map.yy,
            map.y0,
            map.supportX(),
            map.supportY(),
            colours.contrast,
            colours.brightness,
            colours.saturation,
            colours.sharpness,
            colours.mask,
            colours.solarize,
            erased.left,
            erased.top,
            erased.right,
            erased.bottom
        };
        System.arraycopy(row, 0, rows, at, COUNT);
    }
}
