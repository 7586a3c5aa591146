package org.gramian.cli.common;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.gramian.anomaly.DetectorCard;
import org.gramian.anomaly.DetectorTraining;
import org.gramian.anomaly.evaluate.DetectorEvaluation;
import org.gramian.basis.CsvText;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.report.DetectorMeasures;
import org.gramian.report.Figures;

/** Text, JSON and CSV of detectors and their measures. */
public final class DetectorText {
    private DetectorText() {}

    public static String table(Map<String, ?> values) {
        StringBuilder text = new StringBuilder();
        values.forEach((label, value) -> text.append(
                "%-25s %s%n".formatted(QuotedText.visible(label), QuotedText.visible(String.valueOf(value)))));
        return text.toString();
    }

    public static String candidates(List<DetectorTraining.Candidate> candidates, boolean defects) {
        Columns columns = new Columns().row("detector", "AUROC", "SE", "");
        for (DetectorTraining.Candidate candidate : candidates) {
            columns.row(
                    candidate.name(),
                    Figures.percent(candidate.auroc()),
                    Figures.percent(candidate.error()),
                    candidate.chosen() ? "chosen" : "");
        }
        return columns + "left-out good images against " + (defects ? "the given defects" : "synthetic defects")
                + ", in %; chosen: the first within one standard error of the best" + System.lineSeparator();
    }

    public static String measures(Map<String, Object> evaluation, DetectorCard card) {
        Map<String, String> values = new LinkedHashMap<>();
        DetectorMeasures.texts(JsonText.tree(evaluation), card)
                .forEach(measure -> values.put(measure.label(), measure.value()));
        return table(values);
    }

    /** Writes the results of test images as CSV. */
    public static void writePredictions(Path file, DetectorEvaluation evaluation) throws IOException {
        CsvText.write(file, lines -> {
            lines.accept(List.of("image", "kind", "score", "p_value", "anomalous"));
            for (DetectorEvaluation.Result result : evaluation.results()) {
                lines.accept(List.of(
                        result.image().file().toString(),
                        result.image().kind(),
                        Double.toString(result.score()),
                        Double.toString(result.pValue()),
                        Boolean.toString(result.anomalous())));
            }
        });
    }

    /** Returns a warning if there were too few good images for the rate of false alarms. */
    public static Optional<String> fewImages(DetectorCard card) {
        int found = card.calibration().size();
        return found >= card.imagesNeeded()
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "no image can be anomalous: a rate of false alarms of %s needs %d good images, found %d;"
                                + " use more images, or --false-alarms %.4f, the smallest possible rate",
                        card.falseAlarms(),
                        card.imagesNeeded(),
                        found,
                        Math.ceil(1e4 / (found + 1)) / 1e4));
    }
}
