package org.gramian.explain;

import org.gramian.basis.EnumWords;
import org.gramian.tensor.Tensor;

/**
 * Attributes a score to positions {@code [n, h, w]}, from features {@code F [n, c, h, w]} and the gradient G of the score. {@code
 * docs/explain.md} compares their faithfulness.
 */
public enum Attribution {
    /** {@code Σ_c G F}: first-order change of the score if the features of a position become 0. */
    GRADIENT_TIMES_FEATURE(Baseline.ZERO, 1),
    /**
     * {@code Σ_c G (F − F_0)} with the features F_0 of a blank image of the mean colour: first-order change if a position becomes
     * blank.
     */
    GRADIENT_AGAINST_BLANK(Baseline.BLANK, 1),
    /** {@code Σ_c w_c F} with {@code w_c} the mean of G over positions (Selvaraju et al., Grad-CAM, ICCV 2017). */
    GRAD_CAM(Baseline.ZERO, 1),
    /** {@code ‖G‖} over channels: the sensitivity of the score to a position. */
    GRADIENT_NORM(Baseline.ZERO, 1),
    /**
     * {@code Σ_c F ∫ G(αF) dα}, by the midpoint rule (Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks, ICML
     * 2017): sums to the score minus that of zero features.
     */
    INTEGRATED(Baseline.ZERO, 4),
    /** {@code Σ_c (F − F_0) ∫ G(F_0 + α(F − F_0)) dα}: sums to the score minus that of the blank image. */
    INTEGRATED_AGAINST_BLANK(Baseline.BLANK, 4);

    enum Baseline {
        ZERO,
        BLANK
    }

    private final Baseline baseline;
    private final int steps;

    Attribution(Baseline baseline, int steps) {
        this.baseline = baseline;
        this.steps = steps;
    }

    /** Parses a name in lower case, with hyphens. */
    public static Attribution parse(String text) {
        return EnumWords.parse(Attribution.class, "the attribution", text);
    }

    Baseline baseline() {
        return baseline;
    }

    /** Returns the number of gradients between the baseline and the features. */
    int steps() {
        return steps;
    }

    /**
     * Computes the attributions {@code [n, 1, h, w]}.
     *
     * @param gradient at the features, or its mean on the path to them
     */
    Tensor shares(Tensor difference, Tensor gradient) {
        return switch (this) {
            case GRADIENT_NORM -> gradient.mul(gradient).sum(1).sqrt();
            case GRAD_CAM -> {
                long positions = gradient.size(2) * gradient.size(3);
                Tensor weights = gradient.sum(2, 3).mul(1.0 / positions);
                yield difference.mul(weights).sum(1);
            }
            default -> difference.mul(gradient).sum(1);
        };
    }
}
