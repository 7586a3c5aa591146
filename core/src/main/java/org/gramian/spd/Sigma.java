package org.gramian.spd;

/** Choice of the width σ of the {@link Rbf} kernel. */
public sealed interface Sigma {
    /** Lower bound of σ: with only dead channels the mean distance is 0. */
    double SMALLEST = 1e-6;

    /** Per image the mean distance of its maps, a constant for the gradient: the paper as written. */
    record Mean() implements Sigma {}

    /** Per image the mean distance of its maps, with the gradient flowing through it: K does not depend on scale. */
    record MeanFull() implements Sigma {}

    /** Mean distance over the first training batches, then frozen and stored with the model. */
    record Estimate() implements Sigma {}

    /** A parameter: {@code log σ} is trained. */
    record Learned() implements Sigma {}

    /** One number for all; the authors' released code uses 50. */
    record Fixed(double value) implements Sigma {
        public Fixed {
            if (!(value >= SMALLEST) || Double.isInfinite(value)) {
                throw new IllegalArgumentException(
                        "sigma must be a number of at least " + SMALLEST + ", found " + value);
            }
        }
    }
}
