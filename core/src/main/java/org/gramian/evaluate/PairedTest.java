package org.gramian.evaluate;

import java.util.Locale;
import org.apache.commons.statistics.distribution.BinomialDistribution;

/**
 * Tests whether one of two models is better on the same images: McNemar's test. Only images that exactly one of them
 * got right tell them apart; were both equally good, each of these would be a fair coin.
 *
 * @param bothRight images that both got right
 * @param onlyFirst images that only the first got right
 * @param onlySecond images that only the second got right
 * @param bothWrong images that both got wrong
 */
public record PairedTest(int bothRight, int onlyFirst, int onlySecond, int bothWrong) {
    /** Below it three decimals would read as if the difference were certain. */
    private static final double SMALLEST_SHOWN = 0.0005;

    public PairedTest {
        if (Math.min(Math.min(bothRight, onlyFirst), Math.min(onlySecond, bothWrong)) < 0
                || bothRight + onlyFirst + onlySecond + bothWrong < 1) {
            throw new IllegalArgumentException("expected four counts from 0, not all 0, found %d, %d, %d, %d"
                    .formatted(bothRight, onlyFirst, onlySecond, bothWrong));
        }
    }

    /** Returns the test of the second model against the first. */
    public PairedTest reversed() {
        return new PairedTest(bothRight, onlySecond, onlyFirst, bothWrong);
    }

    /**
     * Between two evaluations of one fold.
     *
     * @throws IllegalArgumentException if they were not measured on the same images under the same division
     */
    public static PairedTest of(Evaluation first, Evaluation second) {
        return Pairing.of(first, second).test();
    }

    /** Both tests as one, of the images of both. */
    public PairedTest plus(PairedTest other) {
        return new PairedTest(
                Math.addExact(bothRight, other.bothRight),
                Math.addExact(onlyFirst, other.onlyFirst),
                Math.addExact(onlySecond, other.onlySecond),
                Math.addExact(bothWrong, other.bothWrong));
    }

    /** How many images there are. */
    public int images() {
        return bothRight + onlyFirst + onlySecond + bothWrong;
    }

    /**
     * The exact two-sided p-value: {@code min(1, 2 P(X <= min(b, c)))}, {@code X} binomial of {@code b + c} fair coins
     * with {@code b} and {@code c} the images that only one got right; 1 where there are none. McNemar 1947.
     */
    public double exactP() {
        return onlyFirst + onlySecond == 0 ? 1 : Math.min(1, 2 * coins().cumulativeProbability(fewer()));
    }

    /**
     * The mid-p value: {@link #exactP} less the probability of what was seen, {@code P(X = min(b, c))}. Less cautious, and
     * closer to its level: Fagerland, Lydersen and Laake 2013.
     */
    public double midP() {
        return onlyFirst + onlySecond == 0
                ? 1
                : Math.min(1, 2 * coins().cumulativeProbability(fewer()) - coins().probability(fewer()));
    }

    private BinomialDistribution coins() {
        return BinomialDistribution.of(onlyFirst + onlySecond, 0.5);
    }

    private int fewer() {
        return Math.min(onlyFirst, onlySecond);
    }

    /** Accuracy of the first less that of the second. */
    public double difference() {
        return (double) (onlyFirst - onlySecond) / images();
    }

    /**
     * The interval of 95 % of {@link #difference}: Newcombe 1998, Improved confidence intervals for the difference
     * between binomial proportions based on paired data, method 10: Wilson's intervals of both accuracies, squared and
     * added, with the correlation of the pairs.
     */
    public Interval differenceInterval() {
        Proportion first = new Proportion(bothRight + onlyFirst, images());
        Proportion second = new Proportion(bothRight + onlySecond, images());
        double firstDown = first.value() - first.interval().low();
        double firstUp = first.interval().high() - first.value();
        double secondDown = second.value() - second.interval().low();
        double secondUp = second.interval().high() - second.value();
        return new Interval(difference() - combined(firstDown, secondUp), difference() + combined(firstUp, secondDown));
    }

    private double combined(double a, double b) {
        // |correlation| <= 1 makes this a square at least; rounding may not know.
        return Math.sqrt(Math.max(0, a * a - 2 * correlation() * a * b + b * b));
    }

    /** Newcombe's phi, with his correction towards 0 where it is positive. */
    private double correlation() {
        double product = (double) (bothRight + onlyFirst)
                * (onlySecond + bothWrong)
                * (bothRight + onlySecond)
                * (onlyFirst + bothWrong);
        if (product == 0) {
            return 0;
        }
        double determinant = (double) bothRight * bothWrong - (double) onlyFirst * onlySecond;
        double corrected = determinant > 0 ? Math.max(0, determinant - images() / 2.0) : determinant;
        return corrected / Math.sqrt(product);
    }

    /** In points, as {@code +3.2 points (0.4 to 6.1), p = 0.026 (McNemar, exact): 41 against 25 of 940 images}. */
    public String text() {
        Interval interval = differenceInterval();
        return String.format(
                Locale.ROOT,
                "%+.1f points (95 %% CI %.1f to %.1f), p %s (McNemar, exact): %d against %d of %d images",
                100 * difference(),
                100 * interval.low(),
                100 * interval.high(),
                exactP() < SMALLEST_SHOWN ? "< 0.001" : String.format(Locale.ROOT, "= %.3f", exactP()),
                onlyFirst,
                onlySecond,
                images());
    }
}
