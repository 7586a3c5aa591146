package org.gramian.anomaly;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;

/**
 * Where an image differs from good images: a score at each position of a grid over the whole image. 1 is typical of the largest scores
 * of a good image.
 *
 * @param rows rows of the grid
 * @param columns columns of the grid
 * @param values scores, row by row; not copied
 * @param width width of the image in pixels
 * @param height height of the image in pixels
 * @since 0.1
 */
@SuppressWarnings("ArrayRecordComponent") // a map of a large image is not copied
public record AnomalyMap(int rows, int columns, float[] values, int width, int height) {
    /**
     * A connected region of the map above a threshold, as a box in pixels of the image.
     *
     * @param score largest score in the region
     */
    public record Region(int x, int y, int width, int height, double score) {}

    public AnomalyMap {
        if (values.length != rows * columns) {
            throw new IllegalArgumentException("expected " + rows + "×" + columns + " scores, found " + values.length);
        }
    }

    /** Returns the largest score. */
    public double max() {
        float max = Float.NEGATIVE_INFINITY;
        for (float value : values) {
            max = Math.max(max, value);
        }
        return max;
    }

    /** Returns the regions with scores above a threshold, the highest score first; neighbours share a side. */
    public List<Region> regions(double threshold) {
        boolean[] seen = new boolean[values.length];
        List<Region> found = new ArrayList<>();
        for (int start = 0; start < values.length; start++) {
            if (values[start] > threshold && !seen[start]) {
                found.add(region(start, threshold, seen));
            }
        }
        found.sort(Comparator.comparingDouble(Region::score).reversed());
        return found;
    }

    private Region region(int start, double threshold, boolean[] seen) {
        int left = columns;
        int right = 0;
        int top = rows;
        int bottom = 0;
        float score = 0;
        Deque<Integer> open = new ArrayDeque<>(List.of(start));
        seen[start] = true;
        while (!open.isEmpty()) {
            int at = open.removeLast();
            int row = at / columns;
            int column = at % columns;
            left = Math.min(left, column);
            right = Math.max(right, column + 1);
            top = Math.min(top, row);
            bottom = Math.max(bottom, row + 1);
            score = Math.max(score, values[at]);
            int[] neighbours = {column > 0 ? at - 1 : at, column + 1 < columns ? at + 1 : at, at - columns, at + columns
            };
            for (int next : neighbours) {
                if (next >= 0 && next < values.length && values[next] > threshold && !seen[next]) {
                    seen[next] = true;
                    open.addLast(next);
                }
            }
        }
        int x = Math.toIntExact((long) left * width / columns);
        int y = Math.toIntExact((long) top * height / rows);
        return new Region(
                x,
                y,
                Math.toIntExact(Math.ceilDiv((long) right * width, columns)) - x,
                Math.toIntExact(Math.ceilDiv((long) bottom * height, rows)) - y,
                score);
    }

    /** Returns the map at another size, interpolated bilinearly between the centres of its cells. */
    public float[] resized(int toWidth, int toHeight) {
        float[] across = new float[rows * toWidth];
        for (int x = 0; x < toWidth; x++) {
            double at = Math.clamp((x + 0.5) * columns / toWidth - 0.5, 0, columns - 1.0);
            int first = Math.min((int) at, Math.max(0, columns - 2));
            float share = (float) (at - first);
            int second = Math.min(first + 1, columns - 1);
            for (int row = 0; row < rows; row++) {
                float from = values[row * columns + first];
                across[row * toWidth + x] = from + share * (values[row * columns + second] - from);
            }
        }
        float[] result = new float[toWidth * toHeight];
        for (int y = 0; y < toHeight; y++) {
            double at = Math.clamp((y + 0.5) * rows / toHeight - 0.5, 0, rows - 1.0);
            int first = Math.min((int) at, Math.max(0, rows - 2));
            float share = (float) (at - first);
            int second = Math.min(first + 1, rows - 1);
            for (int x = 0; x < toWidth; x++) {
                float from = across[first * toWidth + x];
                result[y * toWidth + x] = from + share * (across[second * toWidth + x] - from);
            }
        }
        return result;
    }
}
