package org.gramian.evaluate;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.basis.AtomicTextFile;
import org.gramian.basis.CsvText;
import org.gramian.basis.QuotedText;

/**
 * Every prediction as a row of text and probabilities: {@code name,truth,prediction,probability,right,calibrated_by},
 * then a column {@code p:CLASS} for each class. Numbers are written with as many digits as it takes to read the same double.
 *
 * @param classes in the order of the columns
 * @param rows in the order of the names
 */
public record PredictionTable(List<String> classes, List<Row> rows) {
    private static final List<String> COLUMNS =
            List.of("name", "truth", "prediction", "probability", "right", "calibrated_by");

    private static final String CLASS_COLUMN = "p:";

    /**
     * One image.
     *
     * @param name its name
     * @param truth its class
     * @param prediction the predicted class
     * @param probability of the predicted class
     * @param calibration what calibrated the probabilities, see {@link Temperature#source}
     * @param probabilities of all classes, in their order
     */
    public record Row(
            String name,
            String truth,
            String prediction,
            double probability,
            String calibration,
            List<Double> probabilities) {
        public Row {
            probabilities = List.copyOf(probabilities);
        }

        /** Returns whether the prediction is right. */
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

    public PredictionTable {
        classes = List.copyOf(classes);
        rows = List.copyOf(rows);
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

    /**
     * Reads the file of {@link #write}.
     *
     * @throws EvaluationFileException with file and line, if it is not such a file or inconsistent
     */
    public static PredictionTable read(Path path) throws IOException {
        return new Reader(path).read();
    }

    /** Writes a CSV file in UTF-8, with names that no spreadsheet takes for formulas. */
    public void write(Path path) throws IOException {
        writeCsv(path, lines -> {
            lines.accept(header());
            rows.forEach(row -> lines.accept(row.fields()));
        });
    }

    static void writeCsv(Path path, Consumer<Consumer<List<String>>> content) throws IOException {
        AtomicTextFile.write(path, text -> {
            CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text);
            content.accept(fields -> csv.writeRecord(CsvText.safe(fields)));
            csv.flush();
        });
    }

    /** Returns the wrong predictions, the most confident first, ties by name. */
    public List<Row> mistakes() {
        return rows.stream()
                .filter(row -> !row.right())
                .sorted(Comparator.comparingDouble(Row::probability).reversed().thenComparing(Row::name))
                .toList();
    }

    private List<String> header() {
        return Stream.concat(COLUMNS.stream(), classes.stream().map(name -> CLASS_COLUMN + name))
                .toList();
    }

    /** Reads the CSV file line by line, and reports the line of an error. */
    private record Reader(Path path) {
        private static final int FIXED = COLUMNS.size();

        PredictionTable read() throws EvaluationFileException {
            if (!Files.isRegularFile(path)) {
                throw new EvaluationFileException(
                        path,
                        "expected a CSV file of predictions, found " + (Files.exists(path) ? "a folder" : "nothing"));
            }
            try (InputStreamReader text =
                            new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8.newDecoder());
                    CsvReader<CsvRecord> csv = CsvReader.builder()
                            .extraFieldStrategy(FieldMismatchStrategy.IGNORE) // counted below, to name the line
                            .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                            .allowUnclosedQuote(false)
                            .ofCsvRecord(text)) {
                return table(csv);
            } catch (EvaluationFileException e) {
                throw e;
            } catch (CsvParseException | UncheckedIOException | IOException e) {
                throw explained(e);
            }
        }

        private EvaluationFileException explained(Exception failure) {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (cause instanceof CharacterCodingException) {
                    return new EvaluationFileException(path, "expected text in UTF-8, found other bytes", failure);
                }
            }
            return new EvaluationFileException(
                    path, "expected a CSV file of predictions, found: " + QuotedText.bare(failure.toString()), failure);
        }

        private PredictionTable table(CsvReader<CsvRecord> csv) throws EvaluationFileException {
            List<String> classes = List.of();
            List<Row> rows = new ArrayList<>();
            for (CsvRecord line : csv) {
                if (classes.isEmpty()) {
                    classes = classes(restored(line));
                } else {
                    rows.add(row(line, classes));
                }
            }
            if (rows.isEmpty()) {
                throw new EvaluationFileException(path, "expected a header and predictions below it, found none");
            }
            return new PredictionTable(classes, rows);
        }

        private static List<String> restored(CsvRecord line) {
            return line.getFields().stream().map(CsvText::restored).toList();
        }

        private List<String> classes(List<String> header) throws EvaluationFileException {
            List<String> columns = header.subList(Math.min(FIXED, header.size()), header.size());
            boolean known = header.size() > FIXED
                    && header.subList(0, FIXED).equals(COLUMNS)
                    && columns.stream().allMatch(column -> column.startsWith(CLASS_COLUMN))
                    && Set.copyOf(columns).size() == columns.size();
            if (!known) {
                throw new EvaluationFileException(
                        path,
                        "expected a header " + String.join(",", COLUMNS) + " and a column "
                                + CLASS_COLUMN + "NAME per class, found "
                                + QuotedText.text(String.join(",", header)));
            }
            return columns.stream()
                    .map(column -> column.substring(CLASS_COLUMN.length()))
                    .toList();
        }

        private Row row(CsvRecord line, List<String> classes) throws EvaluationFileException {
            List<String> fields = restored(line);
            if (fields.size() != FIXED + classes.size()) {
                throw wrong(line, (FIXED + classes.size()) + " fields", fields.size() + "");
            }
            List<Double> probabilities = new ArrayList<>();
            for (String field : fields.subList(FIXED, fields.size())) {
                probabilities.add(probability(line, field));
            }
            for (String name : fields.subList(1, 3)) {
                if (!classes.contains(name)) {
                    throw wrong(line, "a class of the header", QuotedText.text(name));
                }
            }
            Row row = new Row(
                    fields.get(0),
                    fields.get(1),
                    fields.get(2),
                    probability(line, fields.get(3)),
                    fields.get(5),
                    probabilities);
            if (row.probability() != probabilities.get(classes.indexOf(row.prediction()))) {
                throw wrong(
                        line,
                        "the probability of " + QuotedText.text(row.prediction()) + " to be that of its column",
                        fields.get(3));
            }
            if (!fields.get(4).equals(Boolean.toString(row.right()))) {
                throw wrong(line, row.right() + " in the column right", QuotedText.text(fields.get(4)));
            }
            return row;
        }

        private double probability(CsvRecord line, String field) throws EvaluationFileException {
            try {
                double value = Double.parseDouble(field);
                if (value >= 0 && value <= 1) {
                    return value;
                }
            } catch (NumberFormatException _) {
                // same error as for a number out of range
            }
            throw wrong(line, "a probability from 0 to 1", QuotedText.text(field));
        }

        private EvaluationFileException wrong(CsvRecord line, String expected, String found) {
            return new EvaluationFileException(
                    path, "line " + line.getStartingLineNumber() + ": expected " + expected + ", found " + found);
        }
    }
}
