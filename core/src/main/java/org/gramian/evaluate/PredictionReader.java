package org.gramian.evaluate;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.PredictionTable.Row;

/** Reads the CSV file of a {@link PredictionTable} line by line, and says in which line something is wrong. */
final class PredictionReader {
    private static final int FIXED = PredictionTable.COLUMNS.size();

    private final Path path;

    PredictionReader(Path path) {
        this.path = path;
    }

    PredictionTable read() throws EvaluationFileException {
        if (!Files.isRegularFile(path)) {
            throw new EvaluationFileException(
                    path, "expected a CSV file of predictions, found " + (Files.exists(path) ? "a folder" : "nothing"));
        }
        try (Reader text = new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8.newDecoder());
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
                classes = classes(line.getFields());
            } else {
                rows.add(row(line, classes));
            }
        }
        if (rows.isEmpty()) {
            throw new EvaluationFileException(path, "expected a header and predictions below it, found none");
        }
        return new PredictionTable(classes, rows);
    }

    private List<String> classes(List<String> header) throws EvaluationFileException {
        List<String> columns = header.subList(Math.min(FIXED, header.size()), header.size());
        boolean known = header.size() > FIXED
                && header.subList(0, FIXED).equals(PredictionTable.COLUMNS)
                && columns.stream().allMatch(column -> column.startsWith(PredictionTable.CLASS_COLUMN))
                && Set.copyOf(columns).size() == columns.size();
        if (!known) {
            throw new EvaluationFileException(
                    path,
                    "expected a header " + String.join(",", PredictionTable.COLUMNS) + " and a column "
                            + PredictionTable.CLASS_COLUMN + "NAME per class, found "
                            + QuotedText.text(String.join(",", header)));
        }
        return columns.stream()
                .map(column -> column.substring(PredictionTable.CLASS_COLUMN.length()))
                .toList();
    }

    private Row row(CsvRecord line, List<String> classes) throws EvaluationFileException {
        List<String> fields = line.getFields();
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
        Row row = new Row(fields.get(0), fields.get(1), fields.get(2), probability(line, fields.get(3)), probabilities);
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
            // said below, as for a number out of range
        }
        throw wrong(line, "a probability from 0 to 1", QuotedText.text(field));
    }

    private EvaluationFileException wrong(CsvRecord line, String expected, String found) {
        return new EvaluationFileException(
                path, "line " + line.getStartingLineNumber() + ": expected " + expected + ", found " + found);
    }
}
