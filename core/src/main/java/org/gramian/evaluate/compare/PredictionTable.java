package org.gramian.evaluate.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.gramian.basis.CsvText;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;

/**
 * Every prediction as a row of text and probabilities: {@code name,truth,prediction,probability,right,calibrated_by},
 * then a column {@code p:CLASS} for each class. Numbers are written with as many digits as it takes to read the same double.
 */
public record PredictionTable(List<String> classes, List<Row> rows) {
    private static final List<String> COLUMNS =
            List.of("name", "truth", "prediction", "probability", "right", "calibrated_by");

    private static final String CLASS_COLUMN = "p:";

    /** One image. */
    public record Row(
            String name,
            String truth,
            String prediction,
            double probability,
            String calibration,
            List<Double> probabilities) {
        public boolean right() {
            return prediction.equals(truth);
        }

        List<String> fields() {
            return Stream.concat(
                            Stream.of(
                                    name,
                                    truth,
                                    prediction,
                                    Double.toString(probability),
                                    Boolean.toString(right()),
                                    calibration),
                            probabilities.stream().map(value -> Double.toString(value)))
                    .toList();
        }
    }

    /** Returns the table of an evaluation, with probabilities under its temperature. */
    public static PredictionTable of(Evaluation evaluation) {
        List<Row> rows = new ArrayList<>();
        for (ImagePrediction prediction : evaluation.predictions()) {
            double[] probabilities =
                    prediction.logits().probabilities(evaluation.temperature().value());
            rows.add(new Row(
                    prediction.name(),
                    evaluation.classes().get(prediction.truth()),
                    evaluation.classes().get(prediction.predicted()),
                    probabilities[prediction.predicted()],
                    evaluation.temperature().source(),
                    Arrays.stream(probabilities).boxed().toList()));
        }
        return new PredictionTable(evaluation.classes(), rows);
    }

    /** Writes a CSV file in UTF-8, with names that no spreadsheet takes for formulas. */
    public void write(Path path) throws IOException {
        CsvText.write(path, lines -> {
            lines.accept(Stream.concat(COLUMNS.stream(), classes.stream().map(name -> CLASS_COLUMN + name))
                    .toList());
            rows.forEach(row -> lines.accept(row.fields()));
        });
    }

    /** Returns the wrong predictions, the most confident first, ties by name. */
    public List<Row> mistakes() {
        return rows.stream()
                .filter(row -> !row.right())
                .sorted(Comparator.comparingDouble(Row::probability).reversed().thenComparing(Row::name))
                .toList();
    }
}
