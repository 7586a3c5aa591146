package org.gramian.testing;

import org.gramian.tensor.Tensor;

/** Relative error ‖a − b‖ / ‖b‖ of a tensor. */
public final class RelativeError {
    private RelativeError() {}

    public static double of(Tensor found, Tensor expected) {
        double[] a = found.toDoubles();
        double[] b = expected.toDoubles();
        double difference = 0;
        double norm = 0;
        for (int i = 0; i < a.length; i++) {
            difference += (a[i] - b[i]) * (a[i] - b[i]);
            norm += b[i] * b[i];
        }
        return Math.sqrt(difference / Math.max(norm, 1e-30));
    }
}
