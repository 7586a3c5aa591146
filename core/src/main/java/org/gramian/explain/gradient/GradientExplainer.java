package org.gramian.explain.gradient;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.gramian.explain.Explanation;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.explain.Explanation.HeatMap;
import org.gramian.explain.Explanation.Parts;
import org.gramian.explain.gradient.CroppedImage.Grid;
import org.gramian.model.Head;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.FirstOrder.Average;
import org.gramian.pooling.FirstOrder.GeneralizedMean;
import org.gramian.pooling.FirstOrder.Maximum;
import org.gramian.pooling.FirstOrder.Sum;
import org.gramian.pooling.FirstOrder.Weighted;
import org.gramian.pooling.Pyramid;
import org.gramian.pooling.SecondOrder;
import org.gramian.spd.Democratic;
import org.gramian.spd.Kernel;
import org.gramian.spd.Kernel.Bilinear;
import org.gramian.spd.Kernel.Covariance;
import org.gramian.spd.Kernel.Gaussian;
import org.gramian.spd.Kernel.Laplacian;
import org.gramian.spd.Kernel.Polynomial;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Explains the score of a class for an image by integrated gradients of the score with respect to feature maps.
 *
 * <pre>{@code
 * a(p) = Σ_c (F − F_0)(c, p) · mean_{i=1..4} G(F_0 + α_i (F − F_0))(c, p),   α_i = (i − ½)/4
 * }</pre>
 *
 * <p>F are the features {@code [c, h, w]} of a crop, F_0 those of a blank image of the mean colour, G is the gradient of the score. The
 * attributions sum to the score minus that of the blank image, up to the error of the midpoint rule (Sundararajan, Taly and Yan,
 * Axiomatic Attribution for Deep Networks, ICML 2017). {@code docs/explain.md} compares it with other methods. In the heat map,
 * positions near the border, which padding excites, take the value of their nearest inner position.
 *
 * <p>The crops are the test crops of the whole image; the rest of the image is not explained, since the model does not
 * see it. The score is the logit of the class, averaged over crops. Thread-safe. The caller owns the model.
 *
 * @param pairs number of pairs of feature maps to list
 */
public record GradientExplainer(Model model, ModelCard card, int pairs) {
    public static final int DEFAULT_PAIRS = 6;

    /** Gradients between the blank image and the features. */
    private static final int STEPS = 4;

    /** @throws IllegalArgumentException with the {@link #incompatibility}, or for a negative number of pairs */
    public GradientExplainer {
        incompatibility(model.head()).ifPresent(reason -> {
            throw new IllegalArgumentException(reason);
        });
        if (pairs < 0) {
            throw new IllegalArgumentException("expected at least 0 pairs, found " + pairs);
        }
    }

    /** Returns why a model with this head cannot be explained; empty if it can. */
    public static Optional<String> incompatibility(Head head) {
        return head.pooling().isDifferentiable()
                ? Optional.empty()
                : Optional.of("predictions with the pooling "
                        + head.pooling().text()
                        + " cannot be explained: its hard assignment to visual words passes no gradient");
    }

    private record CropFeatures(Tensor features, Tensor difference) {}

    /** Explains the score of a class for an image. */
    public Explanation explain(CroppedImage view, int label) {
        if (label < 0 || label >= card.classes().size()) {
            throw new IllegalArgumentException(
                    "expected a class from 0 to " + (card.classes().size() - 1) + ", found " + label);
        }
        return explain(view, OptionalInt.of(label));
    }

    /** Explains the score of the predicted class. */
    public Explanation explain(CroppedImage view) {
        return explain(view, OptionalInt.empty());
    }

    private Explanation explain(CroppedImage view, OptionalInt requested) {
        ScoreGradient gradient = new ScoreGradient(model);
        try (Scope _ = Scope.open();
                Arena arena = Arena.ofConfined()) {
            CropFeatures crops = features(gradient, view, arena);
            int label = requested.orElseGet(() -> gradient.predict(crops.features()));
            ScoreGradient.Gradients found = gradient.at(crops.features(), label);
            Tensor shares =
                    crops.difference().mul(meanGradient(gradient, crops, label)).sum(1);
            return explanation(found, view.sum(grids(shares)), view, label);
        }
    }

    /** Computes the features of all crops and their difference to those of a blank image. */
    private static CropFeatures features(ScoreGradient gradient, CroppedImage view, Arena arena) {
        Tensor all = gradient.features(view.write(arena, true), view.shape(true));
        long count = all.size(0) - 1;
        Tensor features = all.slice(0, 0, count).contiguous();
        return new CropFeatures(features, features.sub(all.slice(0, count, count + 1)));
    }

    /** Computes the mean gradient between the blank image and the features. */
    private static Tensor meanGradient(ScoreGradient gradient, CropFeatures crops, int label) {
        Tensor sum = Tensors.zeros(
                crops.features().shape(),
                crops.features().type(),
                crops.features().device());
        for (int i = 0; i < STEPS; i++) {
            try (Scope scope = Scope.open()) {
                double left = 1 - (i + 0.5) / STEPS;
                Tensor between = crops.features().addScaled(crops.difference(), -left);
                sum = scope.keep(sum.addScaled(gradient.at(between, label).features(), 1.0 / STEPS));
            }
        }
        return sum;
    }

    private Explanation explanation(ScoreGradient.Gradients found, HeatMap heat, CroppedImage view, int label) {
        Logits logits = Logits.ofCrops(found.scores());
        double probability = logits.probabilities(card.temperature())[label];
        double score = Arrays.stream(found.scores())
                .mapToDouble(row -> row[label])
                .average()
                .orElseThrow();
        Shape maps = model.backbone().features(card.crops().size(), card.crops().size());
        int height = Math.toIntExact(maps.at(1));
        int width = Math.toIntExact(maps.at(2));
        List<ChannelPair> ranked = new ArrayList<>();
        PairRanking ranking = new PairRanking(model.head().pooling().aggregation(), found);
        for (PairRanking.Ranked pair : ranking.top(pairs)) {
            HeatMap where = view.sum(ranking.shares(pair).stream()
                    .map(values -> new Grid(height, width, values))
                    .toList());
            ranked.add(new ChannelPair(pair.first(), pair.second(), pair.contribution(), where, List.of()));
        }
        return new Explanation(
                card.classes().get(label), score, probability, logits.top() == label, heat, ranking.parts(), ranked);
    }

    /** Splits maps {@code [n, 1, h, w]} by crop. */
    private static List<Grid> grids(Tensor shares) {
        int height = Math.toIntExact(shares.size(2));
        int width = Math.toIntExact(shares.size(3));
        float[] values = shares.toFloats();
        List<Grid> grids = new ArrayList<>();
        for (int from = 0; from < values.length; from += height * width) {
            grids.add(
                    new Grid(height, width, Arrays.copyOfRange(values, from, from + height * width)).withoutPadding());
        }
        return grids;
    }

    /**
     * Ranks pairs of feature maps, or single maps, by their contribution to a score: gradient times the image's contribution to an entry
     * ({@link EntryTerms}), summed over crops, and over positions for single maps.
     */
    record PairRanking(Aggregation aggregation, ScoreGradient.Gradients found) {
        /** A pair, or the same map twice, with its contribution in each crop. */
        @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
        record Ranked(int first, int second, double[] crops) {
            double contribution() {
                return Arrays.stream(crops).sum();
            }
        }

        /** Returns what the aggregation can be attributed to. */
        Parts parts() {
            return switch (aggregation) {
                case SecondOrder _ -> Parts.PAIRS;
                case Average _, Maximum _, Sum _, GeneralizedMean _, Pyramid _, Weighted _ -> Parts.CHANNELS;
                default -> Parts.NONE;
            };
        }

        /** Returns the largest contributions by magnitude, without zeros. */
        List<Ranked> top(int count) {
            if (count == 0) {
                return List.of();
            }
            List<Ranked> all = switch (parts()) {
                case PAIRS -> pairs(((SecondOrder) aggregation).kernel());
                case CHANNELS -> channels();
                case NONE -> List.of();
            };
            return all.stream()
                    .filter(pair -> pair.contribution() != 0)
                    .sorted(Comparator.comparingDouble(pair -> -Math.abs(pair.contribution())))
                    .limit(count)
                    .toList();
        }

        /**
         * Returns pairs of active maps; with a map that is 0 everywhere an entry depends on the other map alone. The row of means in a
         * Gaussian's matrix is skipped.
         */
        private List<Ranked> pairs(Kernel kernel) {
            EntryTerms terms = EntryTerms.of(kernel);
            double[] entries = found.aggregatedFeatures().toDoubles();
            double[] gradients = found.aggregatedGradient().toDoubles();
            int size = Math.toIntExact(found.aggregatedFeatures().size(1));
            int[] active = active();
            List<Ranked> all = new ArrayList<>();
            for (int i : active) {
                for (int j : active) {
                    if (i < j || (i == j && terms.onDiagonal())) {
                        double[] crops = new double[entries.length / (size * size)];
                        for (int n = 0; n < crops.length; n++) {
                            int place = (n * size + i) * size + j;
                            double gradient = gradients[place] + (i == j ? 0 : gradients[(n * size + j) * size + i]);
                            crops[n] = gradient * (entries[place] - terms.without(i == j));
                        }
                        all.add(new Ranked(i, j, crops));
                    }
                }
            }
            return all;
        }

        private int[] active() {
            double[] sums = found.maps().abs().sum(0, 2).toDoubles();
            return IntStream.range(0, sums.length).filter(i -> sums[i] > 0).toArray();
        }

        private List<Ranked> channels() {
            Tensor products = products();
            int crops = Math.toIntExact(products.size(0));
            int maps = Math.toIntExact(products.size(1));
            double[] sums = products.sum(2).toDoubles();
            List<Ranked> all = new ArrayList<>();
            for (int i = 0; i < maps; i++) {
                int map = i;
                double[] own = new double[crops];
                Arrays.setAll(own, n -> sums[n * maps + map]);
                all.add(new Ranked(i, i, own));
            }
            return all;
        }

        /** Returns gradient times feature, {@code [n, C, N]}. */
        private Tensor products() {
            Tensor products = found.aggregatedFeatures().mul(found.aggregatedGradient());
            long crops = products.size(0);
            long maps = products.size(1);
            return products.contiguous().reshape(crops, maps, products.shape().elements() / (crops * maps));
        }

        /**
         * Attributes a pair's contribution to the positions of each crop, which sum to it: gradient times feature for single maps, in
         * proportion to the terms of their entry for pairs.
         */
        List<float[]> shares(Ranked pair) {
            boolean single = parts() == Parts.CHANNELS;
            double[] first = channel(single ? products() : found.maps(), pair.first());
            double[] second = single ? first : channel(found.maps(), pair.second());
            int positions = first.length / pair.crops().length;
            List<float[]> all = new ArrayList<>();
            for (int n = 0; n < pair.crops().length; n++) {
                double[] a = Arrays.copyOfRange(first, n * positions, (n + 1) * positions);
                double[] b = Arrays.copyOfRange(second, n * positions, (n + 1) * positions);
                double[] terms = single
                        ? a
                        : EntryTerms.of(((SecondOrder) aggregation).kernel()).of(a, b);
                double sum = Arrays.stream(terms).sum();
                double factor = sum == 0 ? 0 : pair.crops()[n] / sum;
                float[] shares = new float[positions];
                for (int x = 0; x < positions; x++) {
                    shares[x] = (float) (factor * terms[x]);
                }
                all.add(shares);
            }
            return all;
        }

        private static double[] channel(Tensor maps, int index) {
            return maps.slice(1, index, index + 1L).contiguous().toDoubles();
        }

        /**
         * Contribution of an image to an entry {@code K_ij} of a kernel matrix, by position.
         *
         * <p>Every kernel is a function of a sum over positions, {@code K_ij = h(Σ_x q(x))}: of squared differences, {@code
         * q = (f_i − f_j)²}, for {@code rbf} and {@code laplacian}, of products {@code f_i f_j} for the others, less the
         * means for {@code covariance}; the weights of {@code democratic} are left out of the shares, and those of a
         * sum of kernels follow its first kernel. Without an image, all maps 0, the entry is {@code h(0)}: 1 for
         * differences. The contribution is {@code K_ij − h(0)}, and a position's share is proportional to {@code q(x)}: the integrated
         * gradient of the entry from zero features (Sundararajan, Taly and Yan, 2017), since {@code q} is quadratic in them; the width of
         * {@code rbf} is constant.
         *
         * @param nothing {@code h(0)}
         */
        record EntryTerms(Kind kind, double nothing, double jitter) {
            enum Kind {
                DIFFERENCES,
                PRODUCTS,
                CENTRED_PRODUCTS
            }

            static EntryTerms of(Kernel kernel) {
                return switch (kernel) {
                    case Rbf _, Laplacian _ -> new EntryTerms(Kind.DIFFERENCES, 1, kernel.jitter());
                    case Polynomial p ->
                        new EntryTerms(Kind.PRODUCTS, Math.pow(p.offset(), p.degree()), kernel.jitter());
                    case Bilinear _, Gaussian _, Democratic _ -> new EntryTerms(Kind.PRODUCTS, 0, kernel.jitter());
                    case Covariance _ -> new EntryTerms(Kind.CENTRED_PRODUCTS, 0, kernel.jitter());
                    case KernelSum sum -> {
                        double nothing = without(sum, false);
                        yield new EntryTerms(of(sum.factors().getFirst()).kind, nothing, without(sum, true) - nothing);
                    }
                };
            }

            /** Returns the entry of a sum without an image. */
            private static double without(KernelSum sum, boolean diagonal) {
                return sum.<Double>combined(
                        (kernel, _) -> of(kernel).without(diagonal), Double::sum, (a, b) -> a * b, (a, b) -> a * b);
            }

            /** Returns whether the diagonal depends on the image. */
            boolean onDiagonal() {
                return kind != Kind.DIFFERENCES;
            }

            /** Returns the entry without an image. */
            double without(boolean diagonal) {
                return nothing + (diagonal ? jitter : 0);
            }

            /** Computes {@code q} at every position, of two maps of one crop. */
            double[] of(double[] first, double[] second) {
                double a = mean(first);
                double b = mean(second);
                double[] terms = new double[first.length];
                for (int x = 0; x < terms.length; x++) {
                    terms[x] = switch (kind) {
                        case DIFFERENCES -> (first[x] - second[x]) * (first[x] - second[x]);
                        case PRODUCTS -> first[x] * second[x];
                        case CENTRED_PRODUCTS -> (first[x] - a) * (second[x] - b);
                    };
                }
                return terms;
            }

            private static double mean(double[] values) {
                return Arrays.stream(values).average().orElse(0);
            }
        }
    }
}
