package org.gramian.explain;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.gramian.explain.Attribution.Baseline;
import org.gramian.explain.CropMosaic.Grid;
import org.gramian.explain.Explanation.ChannelPair;
import org.gramian.model.Logits;
import org.gramian.model.Model;
import org.gramian.model.ModelCard;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Explains the score of a class for an image by the gradient of the score with respect to feature maps.
 *
 * <p>The crops are the test crops of the whole image; the rest of the image is not explained, since the model does not
 * see it. The score is the logit of the class, averaged over crops. Thread-safe. The caller owns the model.
 *
 * @param model model to explain
 * @param card preprocessing and class names of the model
 * @param settings method of explanation
 */
public record Explainer(Model model, ModelCard card, Settings settings) {
    /**
     * Method of explanation.
     *
     * @param layer layer whose feature maps are used; empty for the input of the pooling
     * @param attribution attribution of the score to positions
     * @param pairs number of pairs of feature maps to report
     */
    public record Settings(Optional<String> layer, Attribution attribution, int pairs) {
        public static final int DEFAULT_PAIRS = 6;

        /** Input of the pooling, the most faithful attribution (see {@code docs/explain.md}), six pairs. */
        public static final Settings DEFAULT =
                new Settings(Optional.empty(), Attribution.INTEGRATED_AGAINST_BLANK, DEFAULT_PAIRS);

        /**
         * Checks the number of pairs.
         *
         * @throws IllegalArgumentException if it is negative
         */
        public Settings {
            if (pairs < 0) {
                throw new IllegalArgumentException("expected at least 0 pairs, found " + pairs);
            }
        }
    }

    /** @throws IllegalArgumentException with the {@link #refusal}, or if there is no such layer */
    public Explainer {
        refusal(model).ifPresent(reason -> {
            throw new IllegalArgumentException(reason);
        });
        List<String> layers = model.backbone().wholeLayers();
        settings.layer().filter(layer -> !layers.contains(layer)).ifPresent(layer -> {
            throw new IllegalArgumentException("expected a layer before the pooling, one of "
                    + String.join(", ", layers) + "; found '" + layer + "'");
        });
    }

    /** Returns why a model cannot be explained; empty if it can. */
    public static Optional<String> refusal(Model model) {
        return model.head().pooling().isDifferentiable()
                ? Optional.empty()
                : Optional.of("predictions with the pooling "
                        + model.head().pooling().text()
                        + " cannot be explained: its hard assignment to visual words passes no gradient");
    }

    /** Features of the crops, and their difference to the baseline. */
    private record CropFeatures(Tensor features, Tensor difference) {}

    /**
     * Explains the score of a class for an image.
     *
     * @param view crops of the image under this explainer's card
     * @throws IllegalArgumentException if there is no such class
     */
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
        ScoreGradient gradient = new ScoreGradient(
                model, settings.layer().orElse(model.backbone().layer()));
        try (Scope _ = Scope.open();
                Arena arena = Arena.ofConfined()) {
            CropFeatures crops = features(gradient, view, arena);
            int label = requested.orElseGet(() -> gradient.predict(crops.features()));
            ScoreGradient.Found found = gradient.at(crops.features(), label);
            Tensor shares = settings.attribution()
                    .shares(
                            crops.difference(),
                            meanGradient(gradient, crops, label).orElse(found.features()));
            return explanation(found, view.mosaic().sum(grids(shares)), view.mosaic(), label);
        }
    }

    /** Computes the features of all crops and their difference to the baseline. */
    private CropFeatures features(ScoreGradient gradient, CroppedImage view, Arena arena) {
        boolean blank = settings.attribution().baseline() == Baseline.BLANK;
        Tensor all = gradient.features(view.write(arena, blank), view.shape(blank));
        if (!blank) {
            return new CropFeatures(all, all);
        }
        long count = all.size(0) - 1;
        Tensor features = all.slice(0, 0, count).contiguous();
        return new CropFeatures(features, features.sub(all.slice(0, count, count + 1)));
    }

    /** Computes the mean gradient between the baseline and the features, if the attribution uses it. */
    private Optional<Tensor> meanGradient(ScoreGradient gradient, CropFeatures crops, int label) {
        int steps = settings.attribution().steps();
        if (steps == 1) {
            return Optional.empty();
        }
        Tensor sum = Tensors.zeros(
                crops.features().shape(),
                crops.features().type(),
                crops.features().device());
        for (int i = 0; i < steps; i++) {
            try (Scope scope = Scope.open()) {
                double left = 1 - (i + 0.5) / steps;
                Tensor between = crops.features().addScaled(crops.difference(), -left);
                sum = scope.keep(sum.addScaled(gradient.at(between, label).features(), 1.0 / steps));
            }
        }
        return Optional.of(sum);
    }

    private Explanation explanation(ScoreGradient.Found found, HeatMap heat, CropMosaic mosaic, int label) {
        Logits logits = Logits.ofCrops(found.scores());
        double probability = logits.probabilities(card.temperature())[label];
        double score = Arrays.stream(found.scores())
                .mapToDouble(row -> row[label])
                .average()
                .orElseThrow();
        List<ChannelPair> pairs = new ArrayList<>();
        PairRanking ranking = new PairRanking(model.head().pooling().aggregation(), found);
        for (PairRanking.Ranked pair : ranking.top(settings.pairs())) {
            HeatMap where = mosaic.sum(grids(ranking.shares(pair)));
            pairs.add(new ChannelPair(pair.first(), pair.second(), pair.contribution(), where));
        }
        return new Explanation(
                card.classes().get(label), score, probability, logits.top() == label, heat, ranking.parts(), pairs);
    }

    /** Splits maps {@code [n, 1, h, w]} by crop. */
    private static List<Grid> grids(Tensor shares) {
        int height = Math.toIntExact(shares.size(2));
        int width = Math.toIntExact(shares.size(3));
        float[] values = shares.toFloats();
        List<Grid> grids = new ArrayList<>();
        for (int from = 0; from < values.length; from += height * width) {
            grids.add(new Grid(height, width, Arrays.copyOfRange(values, from, from + height * width)));
        }
        return grids;
    }

    /** Returns maps of the positions of the pooling's input. */
    private List<Grid> grids(List<float[]> crops) {
        int size = card.crops().size();
        Shape features = model.backbone().features(size, size);
        int height = Math.toIntExact(features.at(1));
        int width = Math.toIntExact(features.at(2));
        return crops.stream().map(values -> new Grid(height, width, values)).toList();
    }
}
