package org.gramian.train;

import java.util.SplittableRandom;
import org.gramian.autodiff.Classification;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Synthetic textures: every channel has mean 0 and variance 1 in every class, and the classes differ only in which
 * channels go together, which no average can tell and a second-order statistic can.
 *
 * @param features {@code [n, 4, 6, 6]}
 * @param targets rows with a 1 at the class; the classes take turns
 */
record TextureBatch(Tensor features, Tensor targets) implements AutoCloseable {
    static final int CHANNELS = 4;
    static final int CLASSES = 2;
    private static final int POSITIONS = 36;

    static TextureBatch of(int images, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        double[] values = new double[images * CHANNELS * POSITIONS];
        long[] labels = new long[images];
        for (int n = 0; n < images; n++) {
            labels[n] = n % CLASSES;
            for (int p = 0; p < POSITIONS; p++) {
                double shared = random.nextGaussian();
                for (int c = 0; c < CHANNELS; c++) {
                    double own = random.nextGaussian();
                    boolean together = labels[n] == 0 ? c < 2 : c >= 2;
                    values[(n * CHANNELS + c) * POSITIONS + p] = together ? 0.9 * shared + 0.436 * own : own;
                }
            }
        }
        return new TextureBatch(
                Tensors.of(values, Shape.of(images, CHANNELS, 6, 6), DType.F32),
                Classification.oneHot(labels, CLASSES, DType.F32));
    }

    /** Share of rows whose largest score is at the class. */
    double accuracy(double[] scores) {
        int images = scores.length / CLASSES;
        int right = 0;
        for (int n = 0; n < images; n++) {
            int best = scores[n * CLASSES] >= scores[n * CLASSES + 1] ? 0 : 1;
            right += best == n % CLASSES ? 1 : 0;
        }
        return (double) right / images;
    }

    @Override
    public void close() {
        features.close();
        targets.close();
    }
}
