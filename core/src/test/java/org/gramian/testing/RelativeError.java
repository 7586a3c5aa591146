package org.gramian.testing;

import org.gramian.tensor.Tensor;

/** The largest deviation between two arrays, relative to the largest magnitude of the expected one; NaN if any is. */
public final class RelativeError {
    private RelativeError() {}

    public static double of(double[] found, double[] expected) {
        if (found.length != expected.length) {
            return Double.POSITIVE_INFINITY;
        }
        double scale = Double.MIN_NORMAL;
        double deviation = 0;
        for (int i = 0; i < found.length; i++) {
            scale = Math.max(scale, Math.abs(expected[i]));
            deviation = Math.max(deviation, Math.abs(found[i] - expected[i]));
        }
        return deviation / scale;
    }

    /** The norm of the difference relative to that of the expected array. */
    public static double ofNorm(double[] found, double[] expected) {
        if (found.length != expected.length) {
            return Double.POSITIVE_INFINITY;
        }
        double difference = 0;
        double norm = Double.MIN_NORMAL;
        for (int i = 0; i < found.length; i++) {
            difference += (found[i] - expected[i]) * (found[i] - expected[i]);
            norm += expected[i] * expected[i];
        }
        return Math.sqrt(difference / norm);
    }

    public static double of(Tensor found, Tensor expected) {
        return found.shape().equals(expected.shape())
                ? of(found.toDoubles(), expected.toDoubles())
                : Double.POSITIVE_INFINITY;
    }

    public static double ofNorm(Tensor found, Tensor expected) {
        return found.shape().equals(expected.shape())
                ? ofNorm(found.toDoubles(), expected.toDoubles())
                : Double.POSITIVE_INFINITY;
    }
}
