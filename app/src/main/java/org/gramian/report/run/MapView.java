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
import org.gramian.report.embedding.Distances;
import org.gramian.report.embedding.PrincipalPlane;
import org.gramian.report.embedding.StochasticNeighbours;
import org.gramian.report.run.Outcomes.Answered;

/**
 * Test images as points: what the model finds alike lies close together.
 *
 * @param maps principal components and t-SNE of the same images
 * @param legend a marker for each class that is there
 * @param remark how many images, and of which fold
 */
public record MapView(List<PointMap> maps, List<Entry> legend, String remark) {
    /** More points than this hide each other. */
    public static final int MOST = 1_000;

    /** A class and how it is marked. */
    public record Entry(int kind, String name, Marker marker) {}

    /**
     * Of the test images of a fold; nothing where it kept none or too few.
     *
     * @param outcomes of this fold alone: another's model may answer otherwise to the same image
     */
    static Optional<MapView> of(Gallery gallery, String fold, Outcomes outcomes, ImageSheet sheet) {
        List<Integer> test = IntStream.range(0, gallery.items().size())
                .filter(i -> gallery.items().get(i).part() == Part.TEST)
                .boxed()
                .toList();
        if (test.size() < 4) {
            return Optional.empty();
        }
        List<Integer> chosen = EvenSample.of(test, MOST); // every class keeps its share
        Distances distances = Distances.of(chosen.stream().map(gallery::vector).toList());
        PrincipalPlane plane = PrincipalPlane.of(distances);
        double[][] map = StochasticNeighbours.USUAL.embed(distances, plane.points());
        List<PointMap.Subject> subjects = subjects(gallery, chosen, outcomes, sheet);
        String kept = Figures.percent(plane.kept()[0] + plane.kept()[1]);
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
                + Figures.number(StochasticNeighbours.USUAL.perplexity(shown)) + ", seed "
                + StochasticNeighbours.USUAL.seed() + ".";
    }

    private static List<PointMap.Subject> subjects(
            Gallery gallery, List<Integer> chosen, Outcomes outcomes, ImageSheet sheet) {
        Map<String, Answered> answers = new HashMap<>();
        outcomes.answers().forEach(answer -> answers.put(answer.prediction().name(), answer));
        List<PointMap.Subject> subjects = new ArrayList<>();
        for (int index : chosen) {
            Item item = gallery.items().get(index);
            Answered answer = answers.get(item.name());
            String text = answer == null
                    ? item.name() + ": " + gallery.classes().get(item.label())
                    : outcomes.shown(answer, sheet).text();
            subjects.add(new PointMap.Subject(
                    item.label(),
                    text,
                    sheet.place(item.name(), outcomes.material().thumbnails()).orElse(-1),
                    answer != null && !answer.right()));
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
