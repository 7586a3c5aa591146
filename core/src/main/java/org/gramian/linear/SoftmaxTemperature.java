package org.gramian.linear;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Fits the temperature of a softmax: the {@code T > 0} that minimizes the mean cross-entropy of {@code softmax(z / T)} to
 * given targets (Guo et al., On Calibration of Modern Neural Networks, ICML 2017).
 *
 * <pre>{@code f(b) = mean_i (log Σ_k exp(b z_ik) − b t_i),   b = 1/T,   t_i = Σ_k target_ik z_ik}</pre>
 *
 * <p>f is convex in b, so there is one minimum or none; Newton's method between two closing bounds finds it. A prior of weight
 * λ > 0 adds {@code λ/n (b − 1 − log b)}: then there is always one minimum, which nears 1 as n falls. Exponentials are
 * {@link StrictMath}'s: every machine finds the same bits.
 */
public final class SoftmaxTemperature {
    /** Relative width at which the bounds count as one. */
    private static final double TOLERANCE = 1e-12;

    /** Bisection alone needs fewer from any bounds that doubling finds. */
    private static final int MAX_STEPS = 2000;

    private record Slope(double first, double second) {}

    private final List<double[]> scores;
    private final double[] targets;
    private final double prior;

    private SoftmaxTemperature(List<double[]> scores, double[] targets, double prior) {
        this.scores = scores;
        this.targets = targets;
        this.prior = prior;
    }

    /**
     * Returns the minimizing T; empty where there is none, as without a prior if every row is right.
     *
     * @param scores n rows of k scores, each minus its maximum: no exponential overflows
     * @param targets the expected score {@code t_i} of each row, at most 0
     * @param prior weight λ of the prior; 0 for none
     */
    public static OptionalDouble fit(List<double[]> scores, double[] targets, double prior) {
        if (scores.isEmpty() || scores.size() != targets.length) {
            throw new IllegalArgumentException("expected a target for each of at least 1 row of scores, found "
                    + scores.size() + " rows and " + targets.length + " targets");
        }
        SoftmaxTemperature loss = new SoftmaxTemperature(scores, targets, prior);
        return prior == 0 && (loss.isUninformative() || loss.isUnbounded())
                ? OptionalDouble.empty()
                : OptionalDouble.of(1 / loss.root());
    }

    /** Returns whether the loss decreases as T grows, or does not depend on T: the scores do not predict the targets. */
    private boolean isUninformative() {
        return slope(0).first() >= -TOLERANCE * spread() * targets.length;
    }

    /** Returns whether the loss decreases as T goes to 0: every target is the highest score. */
    private boolean isUnbounded() {
        return Arrays.stream(targets).noneMatch(target -> target < 0);
    }

    /** Returns the root of the slope, which rises from below 0 to above 0. */
    private double root() {
        double low = 0;
        double high = prior > 0 ? 1 : 1 / spread();
        for (int step = 0; step < MAX_STEPS && slope(high).first() < 0; step++) {
            low = high;
            high *= 2;
        }
        double inverse = (low + high) / 2;
        for (int step = 0; step < MAX_STEPS && high - low > TOLERANCE * high; step++) {
            Slope slope = slope(inverse);
            if (slope.first() < 0) {
                low = inverse;
            } else {
                high = inverse;
            }
            double newton = inverse - slope.first() / slope.second();
            // also for NaN
            double next = !(newton > low && newton < high) ? (low + high) / 2 : newton;
            if (Math.abs(next - inverse) <= TOLERANCE * inverse) {
                return next;
            }
            inverse = next;
        }
        return inverse;
    }

    /** Returns the widest range of scores: the scale of T. */
    private double spread() {
        return scores.stream().flatMapToDouble(Arrays::stream).reduce(0, (spread, score) -> Math.max(spread, -score));
    }

    /** {@code f' = mean(E_p z − t) + λ/n (1 − 1/b)}, {@code f'' = mean Var_p z + λ/n 1/b²}, both times n. */
    private Slope slope(double inverse) {
        double first = prior == 0 ? 0 : prior * (1 - 1 / inverse);
        double second = prior == 0 ? 0 : prior / (inverse * inverse);
        for (int i = 0; i < targets.length; i++) {
            double total = 0;
            double mean = 0;
            double square = 0;
            for (double score : scores.get(i)) {
                double weight = StrictMath.exp(inverse * score);
                total += weight;
                mean += weight * score;
                square += weight * score * score;
            }
            mean /= total;
            first += mean - targets[i];
            second += square / total - mean * mean;
        }
        return new Slope(first, second);
    }
}
