package org.gramian.cluster;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Rows drawn from Gaussians that are known. */
final class Blobs {
    private final double[][] means;
    private final double[][] deviations;
    private final int[] counts;

    /**
     * @param means one row per Gaussian
     * @param deviations of each Gaussian, by column
     * @param counts rows of each
     */
    Blobs(double[][] means, double[][] deviations, int[] counts) {
        this.means = means;
        this.deviations = deviations;
        this.counts = counts;
    }

    /** Round ones of deviation 0.1 with centres at least 10 apart. */
    static Blobs separated(int blobs, int width, int rowsEach) {
        double[][] means = new double[blobs][width];
        double[][] deviations = new double[blobs][width];
        int[] counts = new int[blobs];
        for (int k = 0; k < blobs; k++) {
            means[k][k % width] = 10 * (1 + k / width);
            Arrays.fill(deviations[k], 0.1);
            counts[k] = rowsEach;
        }
        return new Blobs(means, deviations, counts);
    }

    private int rows() {
        return Arrays.stream(counts).sum();
    }

    /** Blob after blob. */
    Tensor draw(RandomGenerator random) {
        int width = means[0].length;
        double[] values = new double[rows() * width];
        int place = 0;
        for (int k = 0; k < counts.length; k++) {
            for (int i = 0; i < counts[k]; i++) {
                for (int j = 0; j < width; j++) {
                    values[place++] = means[k][j] + deviations[k][j] * random.nextGaussian();
                }
            }
        }
        return Tensors.of(values, Shape.of(rows(), width), DType.F64);
    }
}
