package org.gramian.explain.gradient;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.List;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.image.Image;
import org.gramian.image.crop.Crop;
import org.gramian.image.crop.Preprocessing;
import org.gramian.model.ModelCard;
import org.gramian.tensor.Shape;

/** The test crops of an image, without the image itself, which may be large. */
public record CroppedImage(Image scaled, List<Crop> crops, Preprocessing preprocessing, int width, int height) {
    /** Alignment of libtorch's tensors. */
    private static final long ALIGNMENT = 64;

    private static final int CHANNELS = 3;
    private static final int SPLINE_SUPPORT = 4;

    /** Positions of a side per position that padding reaches: 2 of 14. */
    static final int RING = 7;

    /** Largest short side of heat maps, the resolution of crops of 224. */
    private static final int SHORT_SIDE = 256;

    /** Largest long side of heat maps, for extreme aspect ratios. */
    private static final int LONG_SIDE = 1024;

    /** Crops an image by the card's test crops of the whole image. */
    public static CroppedImage of(Image image, ModelCard card) {
        List<Crop> crops = card.crops().whole().testing().of(image.width(), image.height(), "");
        double scale = heatScale(image.width(), image.height());
        return new CroppedImage(
                crops.getFirst().scale(image),
                crops,
                card.preprocessing(),
                (int) Math.max(1, Math.round(image.width() * scale)),
                (int) Math.max(1, Math.round(image.height() * scale)));
    }

    /** Returns the size of heat maps relative to the image, at most 1. */
    private static double heatScale(int width, int height) {
        double shortSide = (double) SHORT_SIDE / Math.min(width, height);
        double longSide = (double) LONG_SIDE / Math.max(width, height);
        return Math.min(1, Math.min(shortSide, longSide));
    }

    /**
     * A map {@code [h, w]} of one crop, row by row; its positions divide the crop evenly, receptive fields are larger. It is
     * interpolated by a cubic B-spline, which is smooth and stays in the range of its neighbours.
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    public record Grid(int height, int width, float[] values) {
        /** Returns the value at {@code (u, v)}, each from 0 at the first edge to 1 at the last. */
        double at(double u, double v) {
            double x = u * width - 0.5;
            double y = v * height - 0.5;
            int left = (int) Math.floor(x);
            int top = (int) Math.floor(y);
            double sum = 0;
            for (int row = 0; row < SPLINE_SUPPORT; row++) {
                int from = Math.clamp(top + row - 1L, 0, height - 1) * width;
                double line = 0;
                for (int column = 0; column < SPLINE_SUPPORT; column++) {
                    int place = from + Math.clamp(left + column - 1L, 0, width - 1);
                    line += weight(x - (left + column - 1)) * values[place];
                }
                sum += weight(y - (top + row - 1)) * line;
            }
            return sum;
        }

        /**
         * Replaces the positions near the border, a seventh of each side, by their nearest inner ones: there the padding of
         * convolutions excites maps, whatever the image shows.
         */
        Grid withoutPadding() {
            int ring = Math.min(height, width) / RING;
            float[] inner = new float[values.length];
            for (int y = 0; y < height; y++) {
                int row = Math.clamp(y, ring, height - 1 - ring) * width;
                for (int x = 0; x < width; x++) {
                    inner[y * width + x] = values[row + Math.clamp(x, ring, width - 1 - ring)];
                }
            }
            return new Grid(height, width, inner);
        }

        private static double weight(double distance) {
            double t = Math.abs(distance);
            if (t < 1) {
                return (4 + t * t * (3 * t - 6)) / 6;
            }
            return t < 2 ? (2 - t) * (2 - t) * (2 - t) / 6 : 0;
        }
    }

    /** Returns the approximate memory in bytes. */
    public long bytes() {
        return scaled.rgb().length;
    }

    /** Returns the shape {@code [n, 3, s, s]} of the crops, with an optional blank one of the image's mean colour. */
    Shape shape(boolean blank) {
        int size = crops.getFirst().size();
        return Shape.of(crops.size() + (blank ? 1 : 0), CHANNELS, size, size);
    }

    /** Writes all crops, the blank one last. */
    MemorySegment write(Arena arena, boolean blank) {
        Shape shape = shape(blank);
        MemorySegment memory = arena.allocate(shape.elements() * Float.BYTES, ALIGNMENT);
        long bytes = memory.byteSize() / shape.at(0);
        for (int i = 0; i < crops.size(); i++) {
            preprocessing.write(scaled, crops.get(i), memory.asSlice(i * bytes, bytes));
        }
        if (blank) {
            BitSet whole = new BitSet();
            whole.set(0);
            preprocessing.write(
                    masked(whole, 1, 1).scaled, crops.getFirst(), memory.asSlice(crops.size() * bytes, bytes));
        }
        return memory;
    }

    /** Replaces cells of a grid over the image by its mean colour. */
    CroppedImage masked(BitSet cells, int columns, int rows) {
        long[] sums = new long[CHANNELS];
        byte[] rgb = scaled.rgb().clone();
        for (int i = 0; i < rgb.length; i++) {
            sums[i % CHANNELS] += rgb[i] & 0xff;
        }
        byte[] mean = new byte[CHANNELS];
        for (int i = 0; i < CHANNELS; i++) {
            mean[i] = (byte) Math.round((double) sums[i] * CHANNELS / rgb.length);
        }
        int pixels = scaled.width();
        for (int y = 0; y < scaled.height(); y++) {
            int row = (int) ((long) y * rows / scaled.height());
            for (int x = 0; x < pixels; x++) {
                int column = (int) ((long) x * columns / pixels);
                if (cells.get(row * columns + column)) {
                    System.arraycopy(mean, 0, rgb, CHANNELS * (y * pixels + x), CHANNELS);
                }
            }
        }
        return new CroppedImage(new Image(pixels, scaled.height(), rgb), crops, preprocessing, width, height);
    }

    /** Sums maps of all crops to one of the image, scaled so that all pixels sum to all maps, up to interpolation error. */
    public HeatMap sum(List<Grid> grids) {
        float[] values = new float[width * height];
        BitSet covered = new BitSet(values.length);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                double sum = 0;
                for (int i = 0; i < crops.size(); i++) {
                    Crop crop = crops.get(i);
                    double u = ((x + 0.5) * crop.width() / width - crop.left()) / crop.size();
                    double v = ((y + 0.5) * crop.height() / height - crop.top()) / crop.size();
                    if (u >= 0 && u < 1 && v >= 0 && v < 1) {
                        double value = grids.get(i).at(crop.mirrored() ? 1 - u : u, v);
                        sum += value * positionsPerPixel(crop, grids.get(i));
                        covered.set(y * width + x);
                    }
                }
                values[y * width + x] = (float) sum;
            }
        }
        return new HeatMap(width, height, values, covered);
    }

    /** Returns the area of a pixel in positions of a crop's map. */
    private double positionsPerPixel(Crop crop, Grid grid) {
        double across = (double) grid.width() * crop.width() / ((double) width * crop.size());
        double down = (double) grid.height() * crop.height() / ((double) height * crop.size());
        return across * down;
    }
}
