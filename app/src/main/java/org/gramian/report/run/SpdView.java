package org.gramian.report.run;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.basis.QuotedText;
import org.gramian.inspect.DegenerateChannels;
import org.gramian.inspect.MatrixStage;
import org.gramian.inspect.SpdInspection;
import org.gramian.report.Chart;
import org.gramian.report.Figures;
import org.gramian.report.Scale;

/** Spectra of the matrices of an SPD pooling, and dead or duplicate feature maps. */
public record SpdView(String fold, SpdInspection inspection) {
    /** Smallest eigenvalue relative to the largest that float32 can represent meaningfully. */
    private static final double FLOOR = 1e-9;

    static Stream<SpdView> of(RunData.FoldData fold) {
        return fold.matrices().stream()
                .filter(inspection -> !inspection.stages().isEmpty())
                .map(inspection -> new SpdView(fold.name(), inspection));
    }

    /** Formats the effective rank of a matrix, median and 10th to 90th percentile. */
    public String rank(MatrixStage stage) {
        return text(stage.effectiveRank(), Double.POSITIVE_INFINITY);
    }

    /** Formats the condition number of a matrix; numbers at the limit of precision are shown as larger than it. */
    public String condition(MatrixStage stage) {
        return text(stage.condition(), stage.worstCondition());
    }

    private static String text(MatrixStage.QuantileRange range, double limit) {
        String median = text(range.median(), limit);
        return range.low() >= limit
                ? median
                : median + " (" + text(range.low(), limit) + " to " + text(range.high(), limit) + ")";
    }

    private static String text(double number, double limit) {
        return number >= limit ? "over " + Figures.number(limit) : Figures.number(number);
    }

    /** Returns the absolute eigenvalues by rank: median and 10th to 90th percentile over images. */
    public Chart spectrum() {
        List<MatrixStage> stages = inspection.stages();
        double high = stages.stream()
                .flatMap(stage -> stage.eigenvalues().stream())
                .mapToDouble(value -> Math.max(Math.abs(value.low()), Math.abs(value.high())))
                .filter(value -> value > 0)
                .max()
                .orElse(1);
        List<Chart.Line> lines =
                stages.stream().map(stage -> line(stage, high * FLOOR)).toList();
        double low = lines.stream()
                .flatMap(line -> line.values().stream())
                .reduce(Double::min)
                .orElse(high / 10);
        int most = stages.stream().mapToInt(MatrixStage::size).max().orElse(1);
        return new Chart(
                "absolute eigenvalues",
                Chart.Axis.counting("rank", Scale.exactly(1, most)),
                Chart.Axis.of("|λ|", Scale.logarithmic(low, high)),
                lines,
                List.of());
    }

    /** Sorts by magnitude; an inspection sorts by value. */
    private static Chart.Line line(MatrixStage stage, double floor) {
        List<MatrixStage.QuantileRange> ordered = stage.eigenvalues().stream()
                .sorted(Comparator.comparingDouble(value -> -Math.abs(value.median())))
                .toList();
        return new Chart.Line(
                stage.stage(),
                ordered.stream()
                        .map(value -> Math.max(floor, Math.abs(value.median())))
                        .toList(),
                ordered.stream().map(value -> band(value, floor)).toList());
    }

    /** Returns the band of absolute values; a range that contains 0 starts at the floor. */
    private static Chart.Range band(MatrixStage.QuantileRange value, double floor) {
        double low = Math.abs(value.low());
        double high = Math.abs(value.high());
        boolean containsZero = value.low() < 0 && value.high() > 0;
        return new Chart.Range(
                containsZero ? floor : Math.max(floor, Math.min(low, high)), Math.max(floor, Math.max(low, high)));
    }

    /** Returns a sentence on dead and duplicate feature maps. */
    public String channels() {
        DegenerateChannels channels = inspection.channels();
        List<String> dead = channels.dead().stream().map(String::valueOf).toList();
        List<String> duplicates = channels.duplicates().stream()
                .map(one -> one.channel() + " as " + one.of())
                .toList();
        return Figures.count(channels.channels(), "feature map") + " with "
                + Figures.count(channels.positions(), "position") + ", measured on "
                + Figures.count(channels.images(), "image") + ": "
                + (dead.isEmpty() ? "none dead" : listed("dead", dead)) + ", "
                + (duplicates.isEmpty() ? "no duplicates" : listed("duplicated", duplicates)) + "."
                + (dead.isEmpty()
                        ? ""
                        : " A dead channel has the same value at every position; with many of them, fewer channels may"
                                + " do as well.");
    }

    private static String listed(String what, List<String> all) {
        return Figures.count(all.size()) + " " + what + " (" + QuotedText.some(all) + ")";
    }
}
