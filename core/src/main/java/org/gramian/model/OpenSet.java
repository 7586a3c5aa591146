package org.gramian.model;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.basis.Auroc;
import org.gramian.basis.Conformal;
import org.gramian.basis.CountSketch;
import org.gramian.linear.ClassDistances;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Recognizes images of no class by images of known classes that took no part in fitting.
 *
 * <pre>{@code
 * s = (D − median D)/(q₀.₈ D − median D) + (L − median L)/(q₀.₈ L − median L)
 * p = (1 + #{i : sᵢ ≥ s})/(n + 1)
 * }</pre>
 *
 * <p>D is the distance of the image from the nearest class, the mean over its crops, see {@link KnownClasses}: large for images of another
 * kind. L are the log odds against the most probable class: large between classes. Medians, quantiles and sᵢ are those of the n images. At most
 * a share α of images of known classes has {@code p ≤ α} (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005).
 *
 * @param rate α: an image is unknown if its p-value is not greater
 * @param scores sᵢ, ascending, at most {@value #MAX_SCORES}
 * @since 0.1
 */
public record OpenSet(double rate, Scale distance, Scale logOdds, List<Double> scores) {
    /** Default rate of images of known classes that are called unknown. */
    public static final double DEFAULT_RATE = 0.01;

    private static final int MAX_SCORES = 2000;

    /** Smaller odds count as equal: in float32 they are rounding. */
    public static final double LEAST_ODDS = 1e-4;

    private static final double SPREAD = 0.8;

    /** In place of a class that is left out. */
    private static final int NONE = -1;

    /**
     * Checks rate and scores.
     *
     * @throws IllegalArgumentException if a value is not finite or out of range
     */
    public OpenSet {
        requireRate(rate);
        scores = scores.stream().sorted().toList();
        if (scores.isEmpty() || scores.size() > MAX_SCORES || !scores.stream().allMatch(Double::isFinite)) {
            throw new IllegalArgumentException(
                    "expected 1 to " + MAX_SCORES + " finite scores of known images, found " + scores.size());
        }
    }

    /**
     * Checks a rate.
     *
     * @throws IllegalArgumentException if it is not between 0 and 1
     */
    public static void requireRate(double rate) {
        if (!(rate >= 0 && rate < 1)) {
            throw new IllegalArgumentException(
                    "the rate of known images called unknown must be at least 0 and less than 1, found " + rate);
        }
    }

    /** Position and scale of a quantity. */
    public record Scale(double median, double spread) {
        public Scale {
            if (!Double.isFinite(median) || !(spread > 0) || !Double.isFinite(spread)) {
                throw new IllegalArgumentException(
                        "expected a finite median and a positive spread, found " + median + " and " + spread);
            }
        }

        static Scale of(double[] values) {
            double[] sorted = Arrays.stream(values).sorted().toArray();
            double median = quantile(sorted, 0.5);
            double spread = quantile(sorted, SPREAD) - median;
            return new Scale(median, spread > 0 ? spread : 1);
        }

        private static double quantile(double[] sorted, double share) {
            return sorted[(int) Math.round(share * (sorted.length - 1))];
        }

        double apply(double value) {
            return (value - median) / spread;
        }
    }

    /**
     * Images of known classes that took no part in fitting.
     *
     * @param labels their classes {@code [n]}
     * @param logits their scores {@code [n]}
     * @param distances of each crop of each image from all classes {@code [n][crops][k]}
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record KnownImages(List<Integer> labels, List<Logits> logits, List<float[][]> distances) {
        /** Metric of a model card: {@link #leftOutAuroc}. */
        public static final String LEFT_OUT_AUROC = "leftOutClassAuroc";

        private double[] distances(int left) {
            return distances.stream().mapToDouble(crops -> nearest(crops, left)).toArray();
        }

        private double[] logOdds(double temperature, int left) {
            return logits.stream()
                    .mapToDouble(one -> OpenSet.logOdds(one, temperature, left))
                    .toArray();
        }

        /** Calibrates on these images. */
        public OpenSet calibrate(double rate, double temperature) {
            double[] distance = distances(NONE);
            double[] odds = logOdds(temperature, NONE);
            Scale ofDistance = Scale.of(distance);
            Scale ofOdds = Scale.of(odds);
            double[] all = IntStream.range(0, distance.length)
                    .mapToDouble(i -> ofDistance.apply(distance[i]) + ofOdds.apply(odds[i]))
                    .sorted()
                    .toArray();
            int count = Math.min(all.length, MAX_SCORES);
            List<Double> scores = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                scores.add(all[Math.toIntExact((2L * i + 1) * all.length / (2L * count))]);
            }
            return new OpenSet(rate, ofDistance, ofOdds, scores);
        }

        /**
         * Returns how well images of a class that a model does not know are distinguished from the others: the area under the ROC curve, a class in turn
         * left out of the distances and the probabilities, the mean over the classes. The classifier itself is not fitted again.
         */
        public OptionalDouble leftOutAuroc(double temperature) {
            int classes = logits.getFirst().size();
            if (classes < 3) {
                return OptionalDouble.empty();
            }
            OpenSet whole = calibrate(DEFAULT_RATE, temperature);
            return IntStream.range(0, classes)
                    .filter(label -> labels.contains(label))
                    .mapToDouble(label -> {
                        double[] distance = distances(label);
                        double[] odds = logOdds(temperature, label);
                        return Auroc.of(
                                        select(whole, distance, odds, label, false),
                                        select(whole, distance, odds, label, true))
                                .value();
                    })
                    .average();
        }

        private double[] select(OpenSet whole, double[] distance, double[] odds, int label, boolean left) {
            return IntStream.range(0, distance.length)
                    .filter(i -> (labels.get(i) == label) == left)
                    .mapToDouble(i -> whole.score(distance[i], odds[i]))
                    .toArray();
        }
    }

    /** Returns the mean over crops of the distance from the nearest class. */
    static double nearest(float[][] crops) {
        return nearest(crops, NONE);
    }

    private static double nearest(float[][] crops, int left) {
        double sum = 0;
        for (float[] classes : crops) {
            double least = Double.POSITIVE_INFINITY;
            for (int k = 0; k < classes.length; k++) {
                least = k == left ? least : Math.min(least, classes[k]);
            }
            sum += least;
        }
        return sum / crops.length;
    }

    private static double logOdds(Logits logits, double temperature, int left) {
        double[] probabilities = logits.probabilities(temperature);
        double all = 0;
        double best = 0;
        for (int k = 0; k < probabilities.length; k++) {
            if (k != left) {
                all += probabilities[k];
                best = Math.max(best, probabilities[k]);
            }
        }
        return best > 0 ? StrictMath.log(Math.max((all - best) / best, LEAST_ODDS)) : 0;
    }

    private double score(double distanceOfImage, double odds) {
        return distance.apply(distanceOfImage) + logOdds.apply(odds);
    }

    /**
     * Returns the p-value of an image.
     *
     * @param nearest distance from the nearest class, the mean over its crops
     * @param logits scores of the image
     * @param temperature divisor of the scores
     */
    public double pValue(double nearest, Logits logits, double temperature) {
        return Conformal.pValue(scores, score(nearest, logOdds(logits, temperature, NONE)));
    }

    /** Returns whether an image of this p-value is unknown. */
    public boolean isUnknown(double pValue) {
        return pValue <= rate;
    }

    /** Returns whether there are enough scores for an image to be unknown. */
    @JsonIgnore
    public boolean isPossible() {
        return rate > 0 && scores.size() >= Conformal.needed(rate);
    }

    /** Returns this recognition with another rate of images of known classes that are called unknown. */
    public OpenSet withRate(double other) {
        return new OpenSet(other, distance, logOdds, scores);
    }

    /**
     * Distances of descriptors from the classes of a model, {@link ClassDistances} of their short forms: a descriptor is normalized to unit
     * length and shortened by a {@link CountSketch}. {@link OpenSet} decides by them whether an image belongs to no class.
     *
     * <p>Parameters for descriptors of length d, k classes and m = min(d, {@value CountSketch#LENGTH}): {@code centre [m]}, {@code matrix [m,
     * m]} and {@code means [k, m]}.
     */
    @SuppressWarnings("exports") // fitted by training
    public static final class KnownClasses implements AutoCloseable {
        /** Prefix of the parameters. */
        static final String PREFIX = "known";

        private final CountSketch sketch;
        private final ParameterSet parameters;

        KnownClasses(long descriptorSize, ParameterSet parameters) {
            this.sketch = CountSketch.of(descriptorSize);
            this.parameters = parameters;
        }

        /** Returns the distances of fitted classes, whose tensors are copied. */
        public static KnownClasses of(long descriptorSize, ClassDistances fitted) {
            List<ParameterSpec> specs =
                    parameters(descriptorSize, Math.toIntExact(fitted.means().size(0)));
            ParameterSet parameters = ParameterSet.initialize(specs, new SplittableRandom(0), DType.F32, Device.CPU);
            parameters.assign(Map.of("centre", fitted.centre(), "matrix", fitted.matrix(), "means", fitted.means()));
            return new KnownClasses(descriptorSize, parameters);
        }

        static List<ParameterSpec> parameters(long descriptorSize, int classes) {
            long m = Math.min(descriptorSize, CountSketch.LENGTH);
            return List.of(
                    spec("centre", Shape.of(m)), spec("matrix", Shape.of(m, m)), spec("means", Shape.of(classes, m)));
        }

        private static ParameterSpec spec(String name, Shape shape) {
            return new ParameterSpec(name, shape, Role.FITTED, Initializer.constant(0));
        }

        ParameterSet parameters() {
            return parameters;
        }

        /** Returns short descriptors {@code [n, m]}, float32 on the CPU. */
        public static Tensor shortened(CountSketch sketch, float[][] descriptors) {
            double[] all = Arrays.stream(descriptors)
                    .map(sketch::normalized)
                    .flatMapToDouble(Arrays::stream)
                    .toArray();
            return Tensors.of(all, Shape.of(descriptors.length, all.length / descriptors.length), DType.F32);
        }

        /** Computes distances {@code [n][k]} of descriptors {@code [n][d]} from all classes. */
        public float[][] distances(float[][] descriptors) {
            try (Scope _ = Scope.open()) {
                ClassDistances classes = new ClassDistances(value("centre"), value("matrix"), value("means"));
                return Engine.toRows(classes.of(shortened(sketch, descriptors)));
            }
        }

        private Tensor value(String name) {
            return parameters.get(name).value();
        }

        @Override
        public void close() {
            parameters.close();
        }
    }
}
