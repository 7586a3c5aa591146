package org.gramian.spd;

import org.gramian.autodiff.Layer;
import org.gramian.autodiff.Var;

/**
 * Kernel between feature maps: {@code M [n, C, N]} to symmetric matrices {@code K [n, C, C]}, {@code K_ij = k(f_i,
 * f_j)}.
 *
 * <p>Adjoints hold for any upstream gradient, symmetric or not.
 */
public sealed interface Kernel extends Layer permits Rbf, Laplacian, Polynomial, Covariance, Bilinear, Gaussian {
    /** Returns ε, added to the diagonal so that equal maps do not make K singular. */
    double jitter();

    /**
     * Returns the number of rows of K.
     *
     * @param channels number of maps C
     */
    default long size(long channels) {
        return channels;
    }

    /** Checks that second-order statistics of the maps are defined. */
    static void requireMaps(String kernel, Var maps) {
        if (maps.shape().rank() != 3) {
            throw new IllegalArgumentException(
                    kernel + ": expected feature maps [n, channels, positions], found " + maps.value());
        }
        if (maps.shape().at(1) < 2) {
            throw new IllegalArgumentException(kernel + ": expected at least 2 channels, found "
                    + maps.shape().at(1) + " in " + maps.value());
        }
        if (maps.shape().at(2) < 2) {
            throw new IllegalArgumentException(kernel + ": expected at least 2 positions (height times width), found "
                    + maps.shape().at(2) + " in " + maps.value() + "; use an earlier layer of the backbone");
        }
    }

    /** Checks that the jitter keeps K positive definite. */
    static void requireJitter(double jitter) {
        if (!(jitter >= 0) || Double.isInfinite(jitter)) {
            throw new IllegalArgumentException("jitter must be a number of at least 0, found " + jitter);
        }
    }
}
