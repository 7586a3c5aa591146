package org.gramian.anomaly;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.gramian.linear.Whitening;
import org.gramian.tensor.Tensor;

/**
 * Scores of images from their features: the mean of the top 1 % of the distances at all positions, optionally averaged with the distance
 * of the mean features of the image.
 *
 * @param patches distance at each position
 * @param whole whitening of the mean features of an image; empty if only positions count
 */
record AnomalyModel(PatchModel patches, Optional<Whitening> whole) {
    private static final double TOP = 0.01;

    /**
     * Distances of one image.
     *
     * @param map distance at each position
     * @param top mean of the top 1 % of the map
     * @param whole distance of the mean features; 0 if unused
     */
    @SuppressWarnings("ArrayRecordComponent") // made once, read once
    record Distances(float[] map, double top, double whole) {
        double peak() {
            float max = 0;
            for (float value : map) {
                max = Math.max(max, value);
            }
            return max;
        }
    }

    /** Returns all tensors. */
    List<Tensor> tensors() {
        List<Tensor> all = new ArrayList<>(patches.tensors().values());
        whole.ifPresent(each -> all.addAll(List.of(each.mean(), each.matrix())));
        return all;
    }

    /** Computes the distances of images with features {@code [n, p, d]}. */
    Distances[] distances(Tensor features) {
        int n = Math.toIntExact(features.size(0));
        int positions = Math.toIntExact(features.size(1));
        float[] maps = patches.distances(features).contiguous().toFloats();
        double[] wholes = new double[n];
        if (whole.isPresent()) {
            Tensor z = whole.get().apply(meanFeatures(features));
            wholes = z.mul(z).sum(1).sqrt().toDoubles();
        }
        Distances[] results = new Distances[n];
        for (int i = 0; i < n; i++) {
            float[] map = Arrays.copyOfRange(maps, i * positions, (i + 1) * positions);
            results[i] = new Distances(map, topMean(map), wholes[i]);
        }
        return results;
    }

    /** Returns the mean over positions, {@code [n, d]}. */
    static Tensor meanFeatures(Tensor features) {
        return features.sum(1).mulInPlace(1.0 / features.size(1)).reshape(features.size(0), features.size(2));
    }

    private static double topMean(float[] map) {
        float[] sorted = map.clone();
        Arrays.sort(sorted);
        int count = topCount(map.length);
        double sum = 0;
        for (int i = sorted.length - count; i < sorted.length; i++) {
            sum += sorted[i];
        }
        return sum / count;
    }

    /** Returns how many positions the score of an image averages. */
    static int topCount(int positions) {
        return Math.max(1, (int) Math.round(TOP * positions));
    }
}
