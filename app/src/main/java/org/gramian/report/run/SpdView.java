package org.gramian.report.run;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.inspect.DegenerateChannels;
import org.gramian.inspect.MatrixStage;
import org.gramian.inspect.MatrixStage.QuantileRange;
import org.gramian.inspect.SpdInspection;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Chart.Axis;
import org.gramian.report.chart.Chart.Line;
import org.gramian.report.chart.Scale;

/**
 * Spectra of the matrices of an SPD pooling, and dead or duplicate feature maps.
 *
 * @param fold name of the fold
 * @param pooling as written in options
 * @param spectrum absolute eigenvalues by rank: median and 10th to 90th percentile over images
 * @param stages statistics of each matrix
 * @param channels dead and duplicate feature maps
 */
public record SpdView(String fold, String pooling, Chart spectrum, List<Stage> stages, String channels) {
    /** Smallest eigenvalue relative to the largest that float32 can represent meaningfully. */
    private static final double FLOOR = 1e-9;

    private static final int LISTED = 20;

    /**
     * Statistics of a matrix.
     *
     * @param name of the stage, as {@code kernel rbf}
     * @param size number of rows
     * @param images number of inspected matrices
     * @param rank effective rank, median and 10th to 90th percentile
     * @param condition condition number, median and 10th to 90th percentile
     * @param indefinite fraction of images with a negative eigenvalue
     */
    public record Stage(String name, int size, int images, String rank, String condition, String indefinite) {}

    /** Returns the view of an inspection with at least one matrix. */
    static SpdView of(String fold, SpdInspection inspection) {
        return new SpdView(
                fold,
                inspection.pooling(),
                spectrum(inspection.stages()),
                inspection.stages().stream().map(SpdView::stage).toList(),
                channels(inspection.channels()));
    }

    private static Stage stage(MatrixStage stage) {
        return new Stage(
                stage.stage(),
                stage.size(),
                stage.images(),
                text(stage.effectiveRank(), Double.POSITIVE_INFINITY),
                text(stage.condition(), stage.worstCondition()),
                Figures.percent(stage.indefinite()) + " %");
    }

    /** Formats a range; numbers at the limit of precision are shown as larger than it. */
    private static String text(QuantileRange range, double limit) {
        String median = text(range.median(), limit);
        return range.low() >= limit
                ? median
                : median + " (" + text(range.low(), limit) + " to " + text(range.high(), limit) + ")";
    }

    private static String text(double number, double limit) {
        return number >= limit ? "over " + Figures.number(limit) : Figures.number(number);
    }

    private static Chart spectrum(List<MatrixStage> stages) {
        double high = stages.stream()
                .flatMap(stage -> stage.eigenvalues().stream())
                .mapToDouble(value -> Math.max(Math.abs(value.low()), Math.abs(value.high())))
                .filter(value -> value > 0)
                .max()
                .orElse(1);
        List<Line> lines =
                stages.stream().map(stage -> line(stage, high * FLOOR)).toList();
        double low = lines.stream()
                .flatMap(line -> line.values().stream())
                .reduce(Double::min)
                .orElse(high / 10);
        int most = stages.stream().mapToInt(MatrixStage::size).max().orElse(1);
        Chart chart = Chart.of(
                "absolute eigenvalues",
                Axis.counting("rank", Scale.exactly(1, most)),
                Axis.of("|λ|", Scale.logarithmic(low, high)));
        for (Line line : lines) {
            chart = chart.with(line);
        }
        return chart;
    }

    /** Sorts by magnitude; an inspection sorts by value. */
    private static Line line(MatrixStage stage, double floor) {
        List<QuantileRange> ordered = stage.eigenvalues().stream()
                .sorted(Comparator.comparingDouble(value -> -Math.abs(value.median())))
                .toList();
        return new Line(
                stage.stage(),
                IntStream.rangeClosed(1, stage.size())
                        .mapToObj(rank -> (double) rank)
                        .toList(),
                ordered.stream()
                        .map(value -> Math.max(floor, Math.abs(value.median())))
                        .toList(),
                ordered.stream().map(value -> band(value, floor)).toList());
    }

    /** Returns the band of absolute values; a range that contains 0 starts at the floor. */
    private static Line.Range band(QuantileRange value, double floor) {
        double low =
                value.low() < 0 && value.high() > 0 ? floor : Math.min(Math.abs(value.low()), Math.abs(value.high()));
        return new Line.Range(
                Math.max(floor, low), Math.max(floor, Math.max(Math.abs(value.low()), Math.abs(value.high()))));
    }

    private static String channels(DegenerateChannels channels) {
        String among = Figures.count(channels.channels(), "feature map") + " with "
                + Figures.count(channels.positions(), "position") + ", measured on "
                + Figures.count(channels.images(), "image") + ": ";
        String dead = channels.dead().isEmpty()
                ? "none dead"
                : Figures.count(channels.dead().size()) + " dead ("
                        + listed(channels.dead().stream().map(String::valueOf).toList()) + ")";
        String duplicates = channels.duplicates().isEmpty()
                ? "no duplicates"
                : Figures.count(channels.duplicates().size()) + " duplicated ("
                        + listed(channels.duplicates().stream()
                                .map(one -> one.channel() + " as " + one.of())
                                .toList())
                        + ")";
        return among + dead + ", " + duplicates + "."
                + (channels.dead().isEmpty()
                        ? ""
                        : " A dead channel has the same value at every position; with many of them, fewer channels may"
                                + " do as well.");
    }

    private static String listed(List<String> all) {
        return String.join(", ", all.stream().limit(LISTED).toList())
                + (all.size() > LISTED ? " and " + (all.size() - LISTED) + " more" : "");
    }
}
