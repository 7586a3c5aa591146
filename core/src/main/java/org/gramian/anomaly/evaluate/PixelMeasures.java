package org.gramian.anomaly.evaluate;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * AUROC over pixels and AUPRO from maps and masks, in memory that does not grow with the images: scores are counted in {@value #BINS}
 * bins of equal ratio.
 *
 * <p>AUPRO is the mean over connected defect regions of the covered share, integrated over false positive rates up to 0.3 and divided by
 * 0.3 (Bergmann et al., "The MVTec anomaly detection dataset", IJCV 129, 2021).
 */
public final class PixelMeasures {
    private static final int BINS = 1 << 14;
    private static final double LOWEST = 1e-4;
    private static final double HIGHEST = 1e4;
    private static final double MAX_FALSE_POSITIVES = 0.3;

    private final long[] good = new long[BINS];
    private final long[] defective = new long[BINS];
    private final List<int[]> regions = new ArrayList<>();

    /** Starts without images. */
    public PixelMeasures() {}

    /**
     * Adds an image.
     *
     * @param map score of each pixel, row by row
     * @param mask whether each pixel belongs to a defect
     */
    public void add(float[] map, boolean[] mask, int width) {
        boolean[] seen = new boolean[mask.length];
        for (int i = 0; i < map.length; i++) {
            if (mask[i]) {
                defective[bin(map[i])]++;
                if (!seen[i]) {
                    regions.add(region(map, mask, width, i, seen));
                }
            } else {
                good[bin(map[i])]++;
            }
        }
    }

    private static int bin(double score) {
        double at = Math.log(Math.clamp(score, LOWEST, HIGHEST) / LOWEST) / Math.log(HIGHEST / LOWEST);
        return (int) Math.min(BINS - 1.0, at * BINS);
    }

    /** Counts the scores of the region of a pixel; neighbours share a side or a corner. */
    private static int[] region(float[] map, boolean[] mask, int width, int start, boolean[] seen) {
        int[] counts = new int[BINS];
        Deque<Integer> open = new ArrayDeque<>(List.of(start));
        seen[start] = true;
        while (!open.isEmpty()) {
            int at = open.removeLast();
            counts[bin(map[at])]++;
            for (int row = -1; row <= 1; row++) {
                for (int column = -1; column <= 1; column++) {
                    int x = at % width + column;
                    int next = at + row * width + column;
                    if (x >= 0 && x < width && next >= 0 && next < mask.length && mask[next] && !seen[next]) {
                        seen[next] = true;
                        open.addLast(next);
                    }
                }
            }
        }
        return counts;
    }

    /** Returns the number of defect regions. */
    public int regionCount() {
        return regions.size();
    }

    /** Returns the area under the ROC curve over all pixels. */
    public double auroc() {
        double goods = Arrays.stream(good).sum();
        double defects = Arrays.stream(defective).sum();
        double below = 0;
        double area = 0;
        for (int bin = 0; bin < BINS; bin++) {
            area += defective[bin] * (below + good[bin] / 2.0);
            below += good[bin];
        }
        return area / (goods * defects);
    }

    /** Returns the area under the curve of region overlaps up to a false positive rate of 0.3, divided by 0.3. */
    public double aupro() {
        double goods = Arrays.stream(good).sum();
        double[] sizes = regions.stream()
                .mapToDouble(region -> Arrays.stream(region).sum())
                .toArray();
        double alarms = 0;
        double overlap = 0;
        double area = 0;
        for (int bin = BINS - 1; bin >= 0 && alarms < MAX_FALSE_POSITIVES; bin--) {
            double covered = 0;
            for (int i = 0; i < sizes.length; i++) {
                covered += regions.get(i)[bin] / sizes[i] / sizes.length;
            }
            double step = good[bin] / goods;
            double part = step > 0 ? Math.min(1, (MAX_FALSE_POSITIVES - alarms) / step) : 1;
            area += part * step * (overlap + part * covered / 2);
            alarms += step;
            overlap += covered;
        }
        return area / MAX_FALSE_POSITIVES;
    }
}
