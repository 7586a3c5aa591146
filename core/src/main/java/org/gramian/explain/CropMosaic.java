package org.gramian.explain;

import java.util.BitSet;
import java.util.List;
import org.gramian.image.crop.Crop;

/**
 * Combines maps of crops to a map of the image.
 *
 * <p>Maps are interpolated by a cubic B-spline, which is smooth and stays in the range of its neighbours. The {@code h×w} positions
 * of a map divide its crop evenly; receptive fields are larger.
 *
 * @param crops the crops of the maps, all of one image size
 */
public record CropMosaic(int width, int height, List<Crop> crops) {
    /** Support of a cubic B-spline. */
    private static final int TAPS = 4;

    /** Largest short side of the result, the resolution of crops of 224. */
    private static final int SHORT_SIDE = 256;

    /** Largest long side of the result, for extreme aspect ratios. */
    private static final int LONG_SIDE = 1024;

    /** Returns the mosaic of an image, at its size or reduced with its aspect ratio. */
    static CropMosaic of(int imageWidth, int imageHeight, List<Crop> crops) {
        double scale = Math.min(
                1,
                Math.min(
                        (double) SHORT_SIDE / Math.min(imageWidth, imageHeight),
                        (double) LONG_SIDE / Math.max(imageWidth, imageHeight)));
        int columns = (int) Math.max(1, Math.round(imageWidth * scale));
        int rows = (int) Math.max(1, Math.round(imageHeight * scale));
        return new CropMosaic(columns, rows, crops);
    }

    /** A map {@code [h, w]} of one crop, row by row. */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Grid(int height, int width, float[] values) {
        /** Returns the value at {@code (u, v)}, each from 0 at the first edge to 1 at the last. */
        double at(double u, double v) {
            double x = u * width - 0.5;
            double y = v * height - 0.5;
            int left = (int) Math.floor(x);
            int top = (int) Math.floor(y);
            double sum = 0;
            for (int row = 0; row < TAPS; row++) {
                int from = Math.clamp(top + row - 1L, 0, height - 1) * width;
                double line = 0;
                for (int column = 0; column < TAPS; column++) {
                    int place = from + Math.clamp(left + column - 1L, 0, width - 1);
                    line += weight(x - (left + column - 1)) * values[place];
                }
                sum += weight(y - (top + row - 1)) * line;
            }
            return sum;
        }

        private static double weight(double distance) {
            double t = Math.abs(distance);
            if (t < 1) {
                return (4 + t * t * (3 * t - 6)) / 6;
            }
            return t < 2 ? (2 - t) * (2 - t) * (2 - t) / 6 : 0;
        }
    }

    /** Sums the maps of all crops at every pixel, scaled so that all pixels sum to all maps, up to interpolation error. */
    HeatMap sum(List<Grid> grids) {
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
