package org.gramian.evaluate;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Every prediction as a row of text and probabilities: {@code name,truth,prediction,probability,right}, then a column
 * {@code p:CLASS} for each class. Numbers are written with as many digits as it takes to read the same double.
 *
 * @param classes in the order of the columns
 * @param rows in the order of the names
 */
public record PredictionTable(List<String> classes, List<Row> rows) {
    static final List<String> COLUMNS = List.of("name", "truth", "prediction", "probability", "right");

    static final String CLASS_COLUMN = "p:";

    /**
     * One image.
     *
     * @param name its name
     * @param truth its class
     * @param prediction the predicted class
     * @param probability of the predicted class
     * @param probabilities of all classes, in their order
     */
    public record Row(String name, String truth, String prediction, double probability, List<Double> probabilities) {
        public Row {
            probabilities = List.copyOf(probabilities);
        }

        /** Whether the prediction is the truth. */
        public boolean right() {
            return prediction.equals(truth);
        }

        List<String> fields() {
            return Stream.concat(
                            Stream.of(name, truth, prediction, Double.toString(probability), Boolean.toString(right())),
                            probabilities.stream().map(value -> Double.toString(value)))
                    .toList();
        }
    }

    public PredictionTable {
        classes = List.copyOf(classes);
        rows = List.copyOf(rows);
    }

    /** The table of an evaluation, with probabilities under its temperature. */
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
                    Arrays.stream(probabilities).boxed().toList()));
        }
        return new PredictionTable(evaluation.classes(), rows);
    }

    /**
     * Reads what {@link EvaluationCsv#writePredictions} wrote.
     *
     * @throws EvaluationFileException with file and line, if it is something else or contradicts itself
     */
    public static PredictionTable read(Path path) throws IOException {
        return new PredictionReader(path).read();
    }

    /** The rows whose prediction is wrong, the most confident first, equally confident ones by name. */
    public List<Row> mistakes() {
        return rows.stream()
                .filter(row -> !row.right())
                .sorted(Comparator.comparingDouble(Row::probability).reversed().thenComparing(Row::name))
                .toList();
    }

    List<String> header() {
        return Stream.concat(COLUMNS.stream(), classes.stream().map(name -> CLASS_COLUMN + name))
                .toList();
    }
}
