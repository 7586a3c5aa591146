package org.gramian.report.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.Subsample;
import org.gramian.gallery.Gallery;
import org.gramian.report.Chart;
import org.gramian.report.Figures;

/** Two-dimensional embeddings of the descriptors of test images, by t-SNE and PCA. */
public record MapView(List<PointMap> maps, List<Entry> legend, String remark) {
    public static final int SIDE = 400;

    /** Most points: more would hide each other. */
    private static final int MAX_POINTS = 1_000;

    private static final String[] SHAPES = {
        "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
        "M-3.5 -3.5H3.5V3.5H-3.5Z",
        "M0 -4.7L4.3 3.2H-4.3Z",
        "M0 -5L5 0L0 5L-5 0Z",
        "M0 4.7L4.3 -3.2H-4.3Z",
        "M-1.5 -4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
        "M-4.8 -2.3H4.8V2.3H-4.8Z",
        "M-2.3 -4.8H2.3V4.8H-2.3Z"
    };

    public static final int MARKERS = Chart.COLOURS * SHAPES.length;

    /**
     * Legend entry of a class, with a colour and a shape, so that neither is needed alone. After all colours they repeat with other
     * shapes, after {@link #MARKERS} classes everything repeats.
     */
    public record Entry(int kind, String name) {
        public String colour() {
            return "k" + kind % Chart.COLOURS;
        }

        /** Returns the SVG path data of the shape about the origin. */
        public String shape() {
            return SHAPES[(kind + kind / Chart.COLOURS) % SHAPES.length];
        }
    }

    /** Scatter plot in a square, both axes with the same scale. */
    public record PointMap(String title, List<Dot> dots) {
        private static PointMap of(String title, double[][] points, List<Subject> subjects) {
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
                    if (subjects.get(i).wrong == wrong) {
                        dots.add(new Dot(
                                place(points[i][0], low[0], high[0], span),
                                place(-points[i][1], -high[1], -low[1], span),
                                subjects.get(i)));
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

    /** Point in SVG coordinates. */
    public record Dot(double x, double y, Subject subject) {}

    /**
     * Image of a point.
     *
     * @param image number on the {@link ImageSheet}; -1 without one
     */
    public record Subject(Entry marker, String text, int image, boolean wrong) {
        public String style() {
            return marker.colour() + (wrong ? " wrong" : "");
        }
    }

    /** Embeds the test images of a fold; none with fewer than 4 in the gallery. */
    static Stream<MapView> of(RunData run, RunData.FoldData fold, ImageSheet sheet) {
        // Of this fold only: the model of another fold may predict otherwise.
        PredictionSet predictions = PredictionSet.of(run, List.of(fold.evaluation()));
        return fold.gallery().stream().flatMap(gallery -> of(gallery, fold.name(), predictions, sheet).stream());
    }

    private static Optional<MapView> of(Gallery gallery, String fold, PredictionSet predictions, ImageSheet sheet) {
        List<Integer> test = IntStream.range(0, gallery.items().size())
                .filter(i -> gallery.items().get(i).subset() == Gallery.Subset.TEST)
                .boxed()
                .toList();
        if (test.size() < 4) {
            return Optional.empty();
        }
        List<Integer> chosen = Subsample.even(test, MAX_POINTS); // every class keeps its share
        double[][] squares = PrincipalComponents.squaredDistances(
                chosen.stream().map(gallery::vector).toList());
        PrincipalComponents plane = PrincipalComponents.of(squares);
        double[][] map = Tsne.DEFAULT.embed(squares, plane.points());
        List<Subject> subjects = subjects(gallery, chosen, predictions, sheet);
        String kept = Figures.percent(plane.explained()[0] + plane.explained()[1]);
        return Optional.of(new MapView(
                List.of(
                        PointMap.of("t-SNE", map, subjects),
                        PointMap.of("PCA: " + kept + " % of the variance explained", plane.points(), subjects)),
                chosen.stream()
                        .map(index -> gallery.items().get(index).label())
                        .distinct()
                        .sorted()
                        .map(label -> new Entry(label, gallery.classes().get(label)))
                        .toList(),
                remark(chosen.size(), test.size() + gallery.leftOut(Gallery.Subset.TEST), fold)));
    }

    private static String remark(int shown, int all, String fold) {
        return (shown == all
                        ? "All " + Figures.count(all) + " test images"
                        : Figures.count(shown) + " of " + Figures.count(all) + " test images, sampled evenly,")
                + " of the fold '" + fold + "'; t-SNE with perplexity "
                + Figures.number(Tsne.DEFAULT.perplexity(shown)) + ", seed "
                + Tsne.DEFAULT.seed() + ".";
    }

    private static List<Subject> subjects(
            Gallery gallery, List<Integer> chosen, PredictionSet predictions, ImageSheet sheet) {
        Map<String, PredictionSet.TestPrediction> byName = new HashMap<>();
        predictions.predictions().forEach(one -> byName.put(one.name(), one));
        List<Subject> subjects = new ArrayList<>();
        for (int index : chosen) {
            Gallery.Item item = gallery.items().get(index);
            String label = gallery.classes().get(item.label());
            Optional<PredictionSet.TestPrediction> found = Optional.ofNullable(byName.get(item.name()));
            subjects.add(new Subject(
                    new Entry(item.label(), label),
                    found.map(PredictionSet.TestPrediction::text).orElse(item.name() + ": " + label),
                    sheet.place(item.name(), predictions.thumbnails()).orElse(-1),
                    found.isPresent() && !found.get().right()));
        }
        return subjects;
    }
}
