package org.gramian.report.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.gramian.basis.EvenSample;
import org.gramian.gallery.Gallery;
import org.gramian.gallery.Item;
import org.gramian.gallery.Part;
import org.gramian.report.chart.Marker;
import org.gramian.report.embedding.PairwiseDistances;
import org.gramian.report.embedding.PrincipalComponents;
import org.gramian.report.embedding.Tsne;
import org.gramian.report.run.PredictionSet.ScoredPrediction;

/**
 * Two-dimensional embeddings of the descriptors of test images.
 *
 * @param maps t-SNE and PCA of the same images
 * @param legend marker of each class
 * @param remark number of images, fold and options of t-SNE
 */
public record MapView(List<PointMap> maps, List<Entry> legend, String remark) {
    /** Most points: more would hide each other. */
    public static final int MOST = 1_000;

    /** Legend entry of a class. */
    public record Entry(int kind, String name, Marker marker) {}

    /**
     * Scatter plot in a square, both axes with the same scale.
     *
     * @param title method of the embedding
     * @param dots points, errors last, so that none is hidden
     */
    public record PointMap(String title, List<Dot> dots) {
        /** Side of the square. */
        public static final int SIDE = 400;

        /**
         * Image of a point.
         *
         * @param kind index of the class
         * @param text name and prediction
         * @param image number on the {@link ImageSheet}; -1 without one
         * @param wrong whether the prediction is wrong
         */
        record Subject(int kind, String text, int image, boolean wrong) {}

        /** Point in SVG coordinates. */
        public record Dot(double x, double y, int kind, Marker marker, String text, int image, boolean wrong) {
            /** Returns the CSS classes. */
            public String style() {
                return "k" + marker.colour() + (wrong ? " wrong" : "");
            }
        }

        static PointMap of(String title, double[][] points, List<Subject> subjects) {
            double[] low = {Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY};
            double[] high = {Double.NEGATIVE_INFINITY, Double.NEGATIVE_INFINITY};
            for (double[] point : points) {
                for (int axis = 0; axis < 2; axis++) {
                    low[axis] = Math.min(low[axis], point[axis]);
                    high[axis] = Math.max(high[axis], point[axis]);
                }
            }
            double span = Math.max(1e-300, Math.max(high[0] - low[0], high[1] - low[1]));
            List<Dot> dots = new ArrayList<>();
            for (boolean wrong : new boolean[] {false, true}) {
                for (int i = 0; i < points.length; i++) {
                    Subject subject = subjects.get(i);
                    if (subject.wrong == wrong) {
                        dots.add(new Dot(
                                place(points[i][0], low[0], high[0], span),
                                place(-points[i][1], -high[1], -low[1], span),
                                subject.kind,
                                Marker.of(subject.kind),
                                subject.text,
                                subject.image,
                                wrong));
                    }
                }
            }
            return new PointMap(title, dots);
        }

        /** Centres the shorter axis. */
        private static double place(double value, double low, double high, double span) {
            double share = (value - low) / span + (1 - (high - low) / span) / 2;
            return Math.round((0.02 + 0.96 * share) * SIDE * 10) / 10.0;
        }
    }

    /**
     * Embeds the test images of a fold; empty with fewer than 4 in the gallery.
     *
     * @param predictions of this fold only: the model of another fold may predict otherwise
     */
    static Optional<MapView> of(Gallery gallery, String fold, PredictionSet predictions, ImageSheet sheet) {
        List<Integer> test = IntStream.range(0, gallery.items().size())
                .filter(i -> gallery.items().get(i).part() == Part.TEST)
                .boxed()
                .toList();
        if (test.size() < 4) {
            return Optional.empty();
        }
        List<Integer> chosen = EvenSample.of(test, MOST); // every class keeps its share
        PairwiseDistances distances =
                PairwiseDistances.of(chosen.stream().map(gallery::vector).toList());
        PrincipalComponents plane = PrincipalComponents.of(distances);
        double[][] map = Tsne.DEFAULT.embed(distances, plane.points());
        List<PointMap.Subject> subjects = subjects(gallery, chosen, predictions, sheet);
        String kept = Figures.percent(plane.explained()[0] + plane.explained()[1]);
        return Optional.of(new MapView(
                List.of(
                        PointMap.of("t-SNE", map, subjects),
                        PointMap.of("PCA: " + kept + " % of the variance explained", plane.points(), subjects)),
                legend(gallery, chosen),
                remark(chosen.size(), test.size() + gallery.leftOut(Part.TEST), fold)));
    }

    private static String remark(int shown, int all, String fold) {
        return (shown == all
                        ? "All " + Figures.count(all) + " test images"
                        : Figures.count(shown) + " of " + Figures.count(all) + " test images, sampled evenly,")
                + " of the fold '" + fold + "'; t-SNE with perplexity "
                + Figures.number(Tsne.DEFAULT.perplexity(shown)) + ", seed "
                + Tsne.DEFAULT.seed() + ".";
    }

    private static List<PointMap.Subject> subjects(
            Gallery gallery, List<Integer> chosen, PredictionSet predictions, ImageSheet sheet) {
        Map<String, ScoredPrediction> scored = new HashMap<>();
        predictions.predictions().forEach(one -> scored.put(one.prediction().name(), one));
        List<PointMap.Subject> subjects = new ArrayList<>();
        for (int index : chosen) {
            Item item = gallery.items().get(index);
            ScoredPrediction prediction = scored.get(item.name());
            String text = prediction == null
                    ? item.name() + ": " + gallery.classes().get(item.label())
                    : predictions.shown(prediction, sheet).text();
            subjects.add(new PointMap.Subject(
                    item.label(),
                    text,
                    sheet.place(item.name(), predictions.data().thumbnails()).orElse(-1),
                    prediction != null && !prediction.right()));
        }
        return subjects;
    }

    private static List<Entry> legend(Gallery gallery, List<Integer> chosen) {
        return chosen.stream()
                .map(index -> gallery.items().get(index).label())
                .distinct()
                .sorted()
                .map(label -> new Entry(label, gallery.classes().get(label), Marker.of(label)))
                .toList();
    }
}
