package org.gramian.report.run;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.inspect.DegenerateChannels;
import org.gramian.inspect.MatrixStage;
import org.gramian.inspect.QuantileRange;
import org.gramian.inspect.SpdInspection;
import org.gramian.report.chart.Axis;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Line;
import org.gramian.report.chart.Scale;

/**
 * The matrices of a pooling: how many directions they really use, and what is wrong with the maps that they are made of.
 *
 * @param fold whose model
 * @param pooling its text
 * @param spectrum eigenvalues by rank, in magnitude, median with the band from 10 to 90 % of the images
 * @param stages figures of each matrix
 * @param channels dead and duplicate feature maps, in a sentence
 */
public record SpdView(String fold, String pooling, Chart spectrum, List<Stage> stages, String channels) {
    /** Below this part of the largest eigenvalue, single precision has nothing left to say. */
    private static final double FLOOR = 1e-9;

    private static final int LISTED = 20;

    /**
     * A matrix.
     *
     * @param name of the stage, as {@code kernel rbf}
     * @param size its rows
     * @param images how many such matrices were looked at
     * @param rank effective rank, median and the middle 80 %
     * @param condition condition number, median and the middle 80 %
     * @param indefinite which part of the images has a negative eigenvalue
     */
    public record Stage(String name, int size, int images, String rank, String condition, String indefinite) {}

    /** Of an inspection with at least one matrix. */
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

    /** Numbers that reach a limit lie beyond it: how far, nobody can tell. */
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

    /** By magnitude, as is shown: an inspection orders by value, negative ones last. */
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

    /** A range that reaches over 0 begins at the floor. */
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
