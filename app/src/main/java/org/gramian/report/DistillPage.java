package org.gramian.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Function;
import org.gramian.report.chart.Chart;
import org.gramian.report.chart.Chart.Axis;
import org.gramian.report.chart.Chart.Line;
import org.gramian.report.chart.Scale;
import org.gramian.train.distill.DistillHistory.EpochRow;
import org.jspecify.annotations.Nullable;

/**
 * HTML page of a distillation: curves of losses, learning rate and probe accuracy, and what made the weights.
 *
 * @param student name of the trained backbone
 * @param rows a row for each epoch, at least one
 * @param facts name and value of what made the weights
 * @param version of the program
 */
public record DistillPage(String student, List<EpochRow> rows, SequencedMap<String, String> facts, String version) {
    public DistillPage {
        rows = List.copyOf(rows);
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("expected at least one epoch, found none");
        }
    }

    /** Renders the page. */
    public String html() {
        return ReportFile.render("distill.jte", this);
    }

    /** Returns the facts in order. */
    public List<Map.Entry<String, String>> factList() {
        return List.copyOf(facts.sequencedEntrySet());
    }

    /** Returns the last accuracy of the linear probe, as {@code 71.3 %}; empty without a probe. */
    public String probe() {
        return rows.reversed().stream()
                .map(EpochRow::probe)
                .filter(accuracy -> accuracy != null)
                .findFirst()
                .map(accuracy -> String.format(Locale.ROOT, "%.1f %%", 100 * accuracy))
                .orElse("");
    }

    /** Returns the loss of the last epoch. */
    public String loss() {
        return String.format(Locale.ROOT, "%.3f", rows.getLast().loss());
    }

    /** Returns the number of images that were seen. */
    public String images() {
        return String.format(Locale.ROOT, "%,d", rows.getLast().images());
    }

    /** Returns the charts; those of losses that are off and of an absent probe are left out. */
    public List<Chart> charts() {
        List<Chart> charts = new ArrayList<>();
        add(charts, "loss", EpochRow::loss);
        add(charts, "feature loss", EpochRow::features);
        add(charts, "Gram loss", EpochRow::grams);
        add(charts, "logit loss", EpochRow::logits);
        add(charts, "learning rate", EpochRow::learningRate);
        add(charts, "probe accuracy in %", row -> row.probe() == null ? null : 100 * row.probe());
        return charts;
    }

    private void add(List<Chart> charts, String title, Function<EpochRow, @Nullable Double> value) {
        List<Double> epochs = new ArrayList<>();
        List<Double> values = new ArrayList<>();
        for (EpochRow row : rows) {
            Double found = value.apply(row);
            if (found != null) {
                epochs.add((double) row.epoch());
                values.add(found);
            }
        }
        double highest = values.stream().reduce(Double::max).orElse(0.0);
        if (highest > 0) {
            charts.add(Chart.of(
                            title,
                            Axis.counting("epoch", Scale.exactly(1, Math.max(2, rows.size()))),
                            Axis.of(title, Scale.linear(0, highest)))
                    .with(Line.of(title, epochs, values)));
        }
    }
}
