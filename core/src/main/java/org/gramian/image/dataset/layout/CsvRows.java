package org.gramian.image.dataset.layout;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PushbackReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.gramian.basis.NearestWord;
import org.gramian.image.dataset.DatasetException;

/**
 * The rows of a CSV file with the columns {@code path}, {@code label} and optionally {@code fold}, in any order and case.
 *
 * @param rows all rows below the header
 * @param unused names of further columns
 */
record CsvRows(List<Row> rows, List<String> unused) {
    /**
     * One row, without space around its fields.
     *
     * @param file the CSV file
     * @param line where the row begins, from 1
     * @param path not empty
     * @param label not empty
     * @param fold empty where there is no such column
     */
    record Row(Path file, long line, String path, String label, Optional<String> fold) {
        DatasetException wrong(String problem) {
            return new DatasetException(file, "line " + line + ": " + problem);
        }
    }

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private static final List<String> COLUMNS = List.of("path", "label", "fold");

    static CsvRows read(Path file) throws DatasetException {
        if (!Files.isRegularFile(file)) {
            throw new DatasetException(
                    file, "expected a CSV file, found " + (Files.exists(file) ? "a folder" : "nothing"));
        }
        try (InputStream bytes = Files.newInputStream(file);
                PushbackReader text = new PushbackReader(
                        // reports bytes that are not UTF-8, which the reader itself would replace
                        new InputStreamReader(bytes, StandardCharsets.UTF_8.newDecoder()));
                CsvReader<CsvRecord> reader = reader().ofCsvRecord(afterMark(text))) {
            return rows(file, reader);
        } catch (CsvParseException | UncheckedIOException | IOException failure) {
            throw explained(file, failure);
        }
    }

    private static CsvReader.CsvReaderBuilder reader() {
        return CsvReader.builder()
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE) // counted below, to name the line
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .allowUnclosedQuote(false);
    }

    private static Reader afterMark(PushbackReader text) throws IOException {
        int first = text.read();
        if (first >= 0 && first != BYTE_ORDER_MARK) {
            text.unread(first);
        }
        return text;
    }

    private static DatasetException explained(Path file, Exception failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof DatasetException known) {
                return known;
            }
            if (cause instanceof CharacterCodingException) {
                return new DatasetException(file, "expected text in UTF-8, found other bytes", failure);
            }
        }
        Throwable cause = failure.getCause();
        String detail = cause == null ? "" : " (" + cause.getMessage() + ")";
        return new DatasetException(file, "expected a CSV file, found: " + failure.getMessage() + detail, failure);
    }

    private static CsvRows rows(Path file, CsvReader<CsvRecord> reader) throws DatasetException {
        List<Row> rows = new ArrayList<>();
        List<String> header = List.of();
        for (CsvRecord line : reader) {
            List<String> fields = line.getFields().stream().map(String::strip).toList();
            if (header.isEmpty()) {
                header = header(file, fields);
            } else if (fields.size() != header.size()) {
                throw new DatasetException(
                        file,
                        "line " + line.getStartingLineNumber() + ": expected " + header.size() + " fields, found "
                                + fields.size());
            } else {
                rows.add(row(new Line(file, line.getStartingLineNumber(), header, fields)));
            }
        }
        if (rows.isEmpty()) {
            throw new DatasetException(file, "expected a header path,label[,fold] and rows below it, found no row");
        }
        List<String> unused =
                header.stream().filter(column -> !COLUMNS.contains(column)).toList();
        return new CsvRows(rows, unused);
    }

    private static List<String> header(Path file, List<String> fields) throws DatasetException {
        List<String> header =
                fields.stream().map(field -> field.toLowerCase(Locale.ROOT)).toList();
        for (String column : List.of("path", "label")) {
            if (!header.contains(column)) {
                String hint = fields.size() == 1 && fields.getFirst().matches(".*[;\t].*")
                        ? "; fields are separated by commas"
                        : NearestWord.of(column, header)
                                .map(near -> "; '" + near + "' should be '" + column + "'")
                                .orElse("");
                throw new DatasetException(
                        file,
                        "expected a header path,label[,fold], found no column '" + column + "' in "
                                + String.join(",", fields) + hint);
            }
        }
        if (header.stream().distinct().count() < header.size()) {
            throw new DatasetException(
                    file, "expected every column of the header once, found " + String.join(",", fields));
        }
        return header;
    }

    /** The fields of a line under their names. */
    private record Line(Path file, long number, List<String> header, List<String> fields) {
        String required(String column) throws DatasetException {
            String field = fields.get(header.indexOf(column));
            if (field.isEmpty()) {
                throw new DatasetException(file, "line " + number + ": expected a " + column + ", found none");
            }
            return field;
        }
    }

    private static Row row(Line line) throws DatasetException {
        Optional<String> fold = line.header().contains("fold") ? Optional.of(line.required("fold")) : Optional.empty();
        return new Row(line.file(), line.number(), line.required("path"), line.required("label"), fold);
    }
}
