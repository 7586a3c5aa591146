package org.gramian.image.audit;

import java.util.Arrays;
import org.gramian.image.Image;

/**
 * The mean colour of every cell of a grid laid over an image, to full precision.
 *
 * <p>A pixel that a line of the grid cuts counts for each side by its area there. So copies of different sizes have the
 * same means but for what their resizing did; images smaller than the grid work too.
 */
final class AreaMeans {
    private AreaMeans() {}

    /** Red, green and blue of {@code columns × rows} cells, row by row. */
    static double[] of(Image image, int columns, int rows) {
        int width = image.width();
        double[] means = new double[3 * columns * rows];
        double[] line = new double[3 * width];
        for (int row = 0; row < rows; row++) {
            sumRows(image, row, rows, line);
            double area = (double) width / columns * image.height() / rows;
            for (int column = 0; column < columns; column++) {
                int to = 3 * (row * columns + column);
                double start = (double) column * width / columns;
                double end = (double) (column + 1) * width / columns;
                for (int x = (int) start; x < width && x < end; x++) {
                    double share = share(x, start, end) / area;
                    means[to] += share * line[3 * x];
                    means[to + 1] += share * line[3 * x + 1];
                    means[to + 2] += share * line[3 * x + 2];
                }
            }
        }
        return means;
    }

    /** The sum of the pixels' rows that one row of the grid covers. */
    private static void sumRows(Image image, int row, int rows, double[] line) {
        byte[] rgb = image.rgb();
        int height = image.height();
        double start = (double) row * height / rows;
        double end = (double) (row + 1) * height / rows;
        Arrays.fill(line, 0);
        for (int y = (int) start; y < height && y < end; y++) {
            double share = share(y, start, end);
            int from = y * line.length;
            for (int i = 0; i < line.length; i++) {
                line[i] += share * (rgb[from + i] & 0xff);
            }
        }
    }

    /** How much of pixel {@code [at, at + 1)} lies between start and end. */
    private static double share(int at, double start, double end) {
        return Math.max(0, Math.min(end, at + 1) - Math.max(start, at));
    }
}
