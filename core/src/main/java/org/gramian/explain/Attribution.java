package org.gramian.explain;

import org.gramian.basis.EnumWords;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;

/**
 * How features {@code F [n, c, h, w]} and the gradient G of a score share the score out among positions {@code [n, h, w]}.
 *
 * <p>{@code docs/explain.md} has measurements of how faithful each is.
 */
public enum Attribution {
    /** {@code Σ_c G F}: the score's first-order change, were the features of a position to vanish. */
    GRADIENT_TIMES_FEATURE(Baseline.ZERO, 1),
    /**
     * {@code Σ_c G (F − F_0)} with the features F_0 of an image that is all of the mean colour: the first-order change, were
     * there nothing to see at a position.
     */
    GRADIENT_AGAINST_BLANK(Baseline.BLANK, 1),
    /** {@code Σ_c w_c F} with {@code w_c} the mean of G over positions (Selvaraju et al., Grad-CAM, ICCV 2017). */
    GRAD_CAM(Baseline.ZERO, 1),
    /** {@code ‖G‖} over channels: how strongly a position could change the score, either way. */
    GRADIENT_NORM(Baseline.ZERO, 1),
    /**
     * {@code Σ_c F ∫ G(αF) dα}, by the midpoint rule (Sundararajan, Taly and Yan, Axiomatic Attribution for Deep Networks, ICML
     * 2017): sums to the score less that of features that are all 0.
     */
    INTEGRATED(Baseline.ZERO, 4),
    /** {@code Σ_c (F − F_0) ∫ G(F_0 + α(F − F_0)) dα}: sums to the score less that of the blank image. */
    INTEGRATED_AGAINST_BLANK(Baseline.BLANK, 4);

    /** What features are compared with. */
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

    /** Reads a name as {@link #text} writes it. */
    public static Attribution parse(String text) {
        return EnumWords.parse(Attribution.class, "the attribution", text);
    }

    /** The name in small letters, as {@code grad-cam}. */
    public String text() {
        return EnumWords.text(this);
    }

    Baseline baseline() {
        return baseline;
    }

    /** At how many features between the baseline and those of the image the gradient is taken. */
    int steps() {
        return steps;
    }

    /**
     * The shares {@code [n, 1, h, w]}.
     *
     * @param difference the features less their baseline
     * @param gradient at the features, or its mean over the way to them
     */
    Tensor shares(Tensor difference, Tensor gradient) {
        return switch (this) {
            case GRADIENT_NORM -> Elementwise.sqrt(Reductions.sum(Elementwise.mul(gradient, gradient), 1));
            case GRAD_CAM -> {
                long positions = gradient.size(2) * gradient.size(3);
                Tensor weights = Elementwise.mul(Reductions.sum(gradient, 2, 3), 1.0 / positions);
                yield Reductions.sum(Elementwise.mul(difference, weights), 1);
            }
            default -> Reductions.sum(Elementwise.mul(difference, gradient), 1);
        };
    }
}
