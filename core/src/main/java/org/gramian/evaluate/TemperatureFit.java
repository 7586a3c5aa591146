package org.gramian.evaluate;

import java.util.Comparator;
import java.util.List;
import org.gramian.evaluate.Temperature.Outcome;

/** Finds the minimum of the log loss over {@code b = 1/T} by Newton's method between two bounds that close in. */
final class TemperatureFit {
    /** Relative width at which the bounds count as one. */
    private static final double TOLERANCE = 1e-12;

    /** Halving alone would get there in fewer from any bounds that doubling finds. */
    private static final int MOST_STEPS = 2000;

    /** First and second derivative of the loss. */
    private record Slope(double first, double second) {}

    private final List<Prediction> predictions;
    private final List<double[]> scores;
    private final double[] truths;

    TemperatureFit(List<Prediction> heldBack) {
        if (heldBack.isEmpty()) {
            throw new IllegalArgumentException("expected held-back pictures to fit a temperature on, found none");
        }
        // In the order of an evaluation, so that sums are rounded alike.
        this.predictions =
                heldBack.stream().sorted(Comparator.comparing(Prediction::name)).toList();
        this.scores = predictions.stream().map(TemperatureFit::centred).toList();
        this.truths = new double[predictions.size()];
        for (int i = 0; i < truths.length; i++) {
            truths[i] = scores.get(i)[predictions.get(i).truth()];
        }
    }

    /** Scores below their maximum, which changes no probability and lets no exponential overflow. */
    private static double[] centred(Prediction prediction) {
        double[] centred = prediction.logits().toArray();
        double max = centred[prediction.predicted()];
        for (int k = 0; k < centred.length; k++) {
            centred[k] -= max;
        }
        return centred;
    }

    Temperature fit() {
        if (slope(0).first() >= -TOLERANCE * spread() * truths.length) {
            return new Temperature(1, Outcome.NO_INFORMATION);
        }
        if (allRight()) {
            return new Temperature(1, Outcome.ALL_RIGHT);
        }
        double temperature = 1 / root();
        // Where T is 1 up to rounding, the promise of no higher loss decides.
        boolean lower = Calibration.logLoss(predictions, temperature) <= Calibration.logLoss(predictions, 1);
        return new Temperature(lower ? temperature : 1, Outcome.FITTED);
    }

    /** Whether the slope stays below 0 for ever: no truth lies below the highest score. */
    private boolean allRight() {
        for (double truth : truths) {
            if (truth < 0) {
                return false;
            }
        }
        return true;
    }

    /** Where the slope, which rises from below 0 to above 0, crosses it. */
    private double root() {
        double low = 0;
        double high = 1 / spread();
        for (int step = 0; step < MOST_STEPS && slope(high).first() < 0; step++) {
            low = high;
            high *= 2;
        }
        double inverse = (low + high) / 2;
        for (int step = 0; step < MOST_STEPS && high - low > TOLERANCE * high; step++) {
            Slope slope = slope(inverse);
            if (slope.first() < 0) {
                low = inverse;
            } else {
                high = inverse;
            }
            double newton = inverse - slope.first() / slope.second();
            // The negation also catches a quotient that is no number.
            double next = !(newton > low && newton < high) ? (low + high) / 2 : newton;
            if (Math.abs(next - inverse) <= TOLERANCE * inverse) {
                return next;
            }
            inverse = next;
        }
        return inverse;
    }

    /** The widest range of scores: the scale on which {@code T} lives. */
    private double spread() {
        double spread = 0;
        for (double[] row : scores) {
            for (double score : row) {
                spread = Math.max(spread, -score);
            }
        }
        return spread;
    }

    /** {@code f' = mean(E_p z - z_truth)}, {@code f'' = mean Var_p z}. */
    private Slope slope(double inverse) {
        double first = 0;
        double second = 0;
        for (int i = 0; i < truths.length; i++) {
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
            first += mean - truths[i];
            second += square / total - mean * mean;
        }
        return new Slope(first, second);
    }
}
