package org.gramian.autodiff;

import org.gramian.tensor.Window;
import org.gramian.tensor.Window.Pair;

/**
 * Constants of local response normalization, {@code x / (k + α·mean(x²))^β}.
 *
 * @param size number of neighbouring channels, odd
 * @param alpha weight of the mean square
 * @param beta exponent
 * @param k constant added
 */
public record ResponseNorm(int size, double alpha, double beta, double k) {
    public ResponseNorm {
        if (size < 1 || size % 2 == 0) {
            throw new IllegalArgumentException("local response norm needs an odd number of channels, found " + size);
        }
    }

    /** A window of {@code size} rows over channels laid out as rows. */
    Window window() {
        return new Window(new Pair(size, 1), new Pair(1, 1), new Pair(size / 2, 0), false);
    }
}
