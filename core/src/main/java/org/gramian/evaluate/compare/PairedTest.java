package org.gramian.evaluate.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.statistics.distribution.BinomialDistribution;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.Proportion;
import org.gramian.evaluate.Proportion.Interval;

/**
 * McNemar's test of two models on the same images. Under the null hypothesis each image that exactly one of them classifies
 * correctly is a fair coin.
 */
public record PairedTest(int bothRight, int onlyFirst, int onlySecond, int bothWrong) {
    /** Smaller p-values are shown as {@code < 0.001}. */
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

    /** Compares two evaluations of one fold. */
    public static PairedTest of(Evaluation first, Evaluation second) {
        requireSameSplit(first.setting(), second.setting());
        if (!first.setting().fold().equals(second.setting().fold())) {
            throw notComparable(
                    "the first was evaluated on the fold '" + first.setting().fold() + "', the second on '"
                            + second.setting().fold() + "': different images of the same split");
        }
        if (!Set.copyOf(first.classes()).equals(Set.copyOf(second.classes()))) {
            throw notComparable("the first has the classes " + shown(first.classes()) + ", the second "
                    + shown(second.classes()) + ": they solve different tasks");
        }
        requireSameNames(names(first), names(second), "predict different images");
        int[] counts = new int[4];
        for (int i = 0; i < first.predictions().size(); i++) { // both are sorted by name
            ImagePrediction one = first.predictions().get(i);
            ImagePrediction other = second.predictions().get(i);
            String truth = first.classes().get(one.truth());
            String otherTruth = second.classes().get(other.truth());
            if (!truth.equals(otherTruth)) {
                throw notComparable(QuotedText.text(one.name()) + " is of class " + QuotedText.text(truth)
                        + " in the first and " + QuotedText.text(otherTruth) + " in the second");
            }
            counts[(one.right() ? 0 : 2) + (other.right() ? 0 : 1)]++;
        }
        return new PairedTest(counts[0], counts[1], counts[2], counts[3]);
    }

    static void requireSameSplit(Setting first, Setting second) {
        if (!first.fingerprint().equals(second.fingerprint())) {
            throw notComparable("the first was evaluated under " + first + ", the second under " + second
                    + ": different images, labels or splits, so a difference could come from these"
                    + " as well as from the models");
        }
    }

    private static Set<String> names(Evaluation evaluation) {
        return evaluation.predictions().stream().map(ImagePrediction::name).collect(Collectors.toSet());
    }

    static void requireSameNames(Set<String> first, Set<String> second, String problem) {
        if (!first.equals(second)) {
            throw notComparable("they " + problem + ": the first lacks " + shown(without(second, first))
                    + ", the second lacks " + shown(without(first, second)));
        }
    }

    private static List<String> without(Set<String> names, Set<String> others) {
        return names.stream().filter(name -> !others.contains(name)).sorted().toList();
    }

    private static String shown(List<String> names) {
        return names.isEmpty() ? "none" : QuotedText.quoted(names);
    }

    static IllegalArgumentException notComparable(String reason) {
        return new IllegalArgumentException("these results cannot be compared: " + reason
                + "; evaluate both on the same dataset with the same protocol and seed");
    }

    /** Pools the images of two folds. */
    public PairedTest plus(PairedTest other) {
        return new PairedTest(
                Math.addExact(bothRight, other.bothRight),
                Math.addExact(onlyFirst, other.onlyFirst),
                Math.addExact(onlySecond, other.onlySecond),
                Math.addExact(bothWrong, other.bothWrong));
    }

    public int images() {
        return bothRight + onlyFirst + onlySecond + bothWrong;
    }

    /**
     * Returns the exact two-sided p-value: {@code min(1, 2 P(X <= min(b, c)))}, {@code X} binomial of {@code b + c} fair coins
     * with {@code b} and {@code c} the images that only one got right; 1 where there are none. McNemar 1947.
     */
    public double exactP() {
        return onlyFirst + onlySecond == 0 ? 1 : Math.min(1, 2 * coins().cumulativeProbability(fewer()));
    }

    /**
     * Returns the mid-p value: {@link #exactP} less the probability of what was seen, {@code P(X = min(b, c))}. Less cautious, and
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

    /** Returns the accuracy of the first minus that of the second. */
    public double difference() {
        return (double) (onlyFirst - onlySecond) / images();
    }

    /**
     * Returns the 95 % confidence interval of {@link #difference}: Newcombe 1998, Improved confidence intervals for the difference
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
        // |correlation| <= 1, so it is negative only by rounding.
        return Math.sqrt(Math.max(0, a * a - 2 * correlation() * a * b + b * b));
    }

    /** Returns Newcombe's phi, with continuity correction if it is positive. */
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

    /** Returns e.g. {@code +3.2 points (95 % CI 0.4 to 6.1), p = 0.026 (McNemar, exact): 41 against 25 of 940 images}. */
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

    /**
     * Fall of the log loss from one model to another on the same images.
     *
     * @param mean of the paired differences {@code d_i = loss_before,i − loss_after,i}; positive if the second model is better
     * @param standardError of the mean, {@code √(Σ (d_i − d̄)² / (n (n − 1)))}; infinite for one image
     */
    public record Gain(double mean, double standardError) {
        /** Compares two evaluations of the same images, each under its temperature. */
        public static Gain of(Evaluation before, Evaluation after) {
            PairedTest.of(before, after); // requires the same images
            double[] differences = new double[before.predictions().size()];
            Arrays.setAll(differences, i -> loss(before, i) - loss(after, i));
            int n = differences.length;
            double mean = Arrays.stream(differences).sum() / n;
            double squares =
                    Arrays.stream(differences).map(d -> (d - mean) * (d - mean)).sum();
            return new Gain(mean, n == 1 ? Double.POSITIVE_INFINITY : Math.sqrt(squares / n / (n - 1)));
        }

        /** Returns whether the gain exceeds its standard error. */
        public boolean isSignificant() {
            return mean > standardError;
        }

        /** Returns whether there is a loss beyond the standard error. */
        public boolean isSignificantLoss() {
            return mean < -standardError;
        }

        private static double loss(Evaluation evaluation, int index) {
            ImagePrediction one = evaluation.predictions().get(index);
            return -one.logits()
                    .logProbability(one.truth(), evaluation.temperature().value());
        }
    }
}
