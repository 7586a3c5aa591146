package org.gramian.image.dataset.layout;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.CsvRecordHandler;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import de.siegmar.fastcsv.reader.FieldModifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Assignment.Split;
import org.gramian.image.dataset.Assignment.SplitPart;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.layout.DatasetBuilder.Entry;
import org.gramian.image.dataset.layout.DatasetBuilder.Listing;

/**
 * A CSV file with a header and the columns {@code path,label} and optionally {@code fold}, in any order and case, under these or
 * other usual names, separated by commas, semicolons or tabs.
 *
 * <p>Paths are relative to the root, which defaults to the CSV's folder, and must stay below it; extensions do not matter. The
 * fold is the number of the fold that tests an image, or one of {@code train}, {@code val}, {@code test} in any case, the same kind
 * in all rows. Without {@code test}, {@code val} becomes the test set, and a note reports it.
 *
 * @param root what paths are relative to, if it is not the CSV's folder
 */
record Csv(Optional<Path> root) implements DatasetLayout {
    private static final List<String> COLUMNS = List.of("path", "label", "fold");

    /** Other names of columns, used in a file without the usual one. */
    private static final Map<String, List<String>> SYNONYMS = Map.of(
            "path", List.of("image", "file", "filename", "image_path", "filepath"),
            "label", List.of("class", "category", "class_name"),
            "fold", List.of("split", "set"));

    private static final FieldModifier STRIP = new FieldModifier() {
        @Override
        public String modify(long line, int index, boolean quoted, String field) {
            return quoted ? field : field.strip();
        }
    };

    @Override
    public String text() {
        return "csv" + root.map(folder -> ":" + folder).orElse("");
    }

    @Override
    public boolean matches(Path place) {
        return Files.isRegularFile(place)
                && Listing.name(place).toLowerCase(Locale.ROOT).endsWith(".csv");
    }

    @Override
    public Dataset read(Path place) throws IOException {
        List<Row> all = rows(place);
        // From all rows, including those of missing images.
        boolean validationTests = assignment(all, false) instanceof Assignment.Splits(List<Split> splits)
                && splits.getFirst().parts().contains(SplitPart.VALIDATION)
                && !splits.getFirst().parts().contains(SplitPart.TEST);
        DatasetBuilder builder = new DatasetBuilder(root.orElseGet(() -> place.resolveSibling("")));
        all.getFirst().header().stream()
                .filter(column -> !COLUMNS.contains(column))
                .forEach(column -> builder.note(Kind.UNUSED_COLUMNS, column));
        Map<String, Row> rows = distinct(builder, all);
        Map<String, String> listed = new HashMap<>();
        rows.forEach((name, row) -> {
            listed.put(name, row.label());
            Path file = builder.root().resolve(name);
            if (Files.isRegularFile(file)) {
                builder.add(new Entry(name, row.label(), file, Optional.empty(), SplitPart.UNUSED));
            }
        });
        List<String> present = builder.names();
        if (present.isEmpty()) {
            String first = all.getFirst().path();
            throw new DatasetException(
                    place,
                    "expected images below " + builder.root() + ", found none of the " + rows.size()
                            + " listed, the first being '" + first + "'; write paths with '/', or pass another root");
        }
        builder.noteLists(listed, Set.copyOf(present), Kind.UNLISTED_IMAGES);
        if (validationTests) {
            builder.note(Kind.VALIDATION_TESTS, SplitPart.VALIDATION.word());
        }
        List<Row> inOrder = present.stream()
                .map(name -> Optional.ofNullable(rows.get(name)).orElseThrow())
                .toList();
        Dataset dataset = builder.anyClasses(this, assignment(inOrder, validationTests));
        if (dataset.classes().size() < 2) {
            throw new DatasetException(
                    place,
                    "expected images of at least two classes, found only the class '"
                            + dataset.classes().getFirst() + "'",
                    dataset);
        }
        return dataset;
    }

    /** Returns the rows by image name; notes repeated rows and rejects contradicting ones. */
    private static Map<String, Row> distinct(DatasetBuilder builder, List<Row> rows) throws DatasetException {
        Map<String, Row> distinct = new LinkedHashMap<>();
        for (Row row : rows) {
            Row before = distinct.putIfAbsent(name(builder, row), row);
            if (before == null) {
                continue;
            }
            if (!before.label().equals(row.label()) || !before.fold().equals(row.fold())) {
                throw row.wrong(
                        "expected one label and fold for '" + row.path() + "', found others on line " + before.line());
            }
            builder.note(Kind.REPEATED_ROWS, row.path() + " (line " + row.line() + ")");
        }
        return distinct;
    }

    private static String name(DatasetBuilder builder, Row row) throws DatasetException {
        Path root = builder.root().toAbsolutePath().normalize();
        try {
            Path file = root.resolve(row.path()).normalize();
            if (!file.startsWith(root) || file.equals(root)) {
                throw row.wrong("expected a path below " + builder.root() + ", found '" + row.path()
                        + "', which is outside; pass a root above all images");
            }
            return builder.name(builder.root().resolve(root.relativize(file)));
        } catch (InvalidPathException wrong) {
            throw row.wrong("expected a path, found '" + row.path() + "': " + wrong.getReason());
        }
    }

    /**
     * Parses the fold column: numbers of folds, or parts of one split; the first row decides.
     *
     * @param validationTests whether the validation set is used as the test set, as in {@link DatasetLayout.SplitFolders}
     */
    private static Assignment assignment(List<Row> rows, boolean validationTests) throws DatasetException {
        if (!rows.getFirst().header().contains("fold")) {
            return new Assignment.None();
        }
        boolean numbers = rows.getFirst().isNumbered();
        List<Integer> folds = new ArrayList<>();
        List<SplitPart> parts = new ArrayList<>();
        for (Row row : rows) {
            Optional<SplitPart> part = DatasetLayout.SplitFolders.part(row.fold());
            if (numbers && row.isNumbered()) {
                folds.add(Integer.valueOf(row.fold()));
            } else if (!numbers && part.isPresent()) {
                parts.add(validationTests && part.get() == SplitPart.VALIDATION ? SplitPart.TEST : part.get());
            } else {
                throw row.wrong("expected as fold a number from 0 to 9999 in every row, or train, val or test in every"
                        + " row, found '" + row.fold() + "'");
            }
        }
        return numbers
                ? new Assignment.Folds(folds)
                : new Assignment.Splits(List.of(new Split(DatasetBuilder.ONLY_SPLIT, parts)));
    }

    /**
     * One row, without space around fields that are not quoted; no known column is blank.
     *
     * @param line where the row begins, from 1
     */
    record Row(Path file, long line, List<String> header, List<String> fields) {
        Row checked() throws DatasetException {
            if (fields.size() != header.size()) {
                throw wrong("expected " + header.size() + " fields, found " + fields.size());
            }
            for (String column : COLUMNS) {
                if (header.contains(column) && get(column).isBlank()) {
                    throw wrong("expected a " + column + ", found none");
                }
            }
            return this;
        }

        private String get(String column) {
            int index = header.indexOf(column);
            return index < 0 ? "" : fields.get(index);
        }

        String path() {
            return get("path");
        }

        String label() {
            return get("label");
        }

        String fold() {
            return get("fold").strip();
        }

        boolean isNumbered() {
            return fold().matches("\\d{1,4}");
        }

        DatasetException wrong(String problem) {
            return new DatasetException(file, "line " + line + ": " + problem);
        }
    }

    static List<Row> rows(Path file) throws DatasetException {
        List<Row> rows = new ArrayList<>();
        List<String> header = List.of();
        String text = DatasetBuilder.text(file);
        try (CsvReader<CsvRecord> reader = CsvReader.builder()
                .fieldSeparator(separator(text))
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE) // counted below, to name the line
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .allowUnclosedQuote(false)
                .build(CsvRecordHandler.of(handler -> handler.fieldModifier(STRIP)), text)) {
            for (CsvRecord line : reader) {
                List<String> fields = line.getFields();
                if (header.isEmpty()) {
                    header = header(file, fields);
                } else {
                    rows.add(new Row(file, line.getStartingLineNumber(), header, fields).checked());
                }
            }
        } catch (DatasetException known) {
            throw known;
        } catch (CsvParseException | IOException failure) {
            throw new DatasetException(file, "expected a CSV file, found: " + failure.getMessage(), failure);
        }
        if (rows.isEmpty()) {
            throw new DatasetException(file, "expected a header path,label[,fold] and rows below it, found no row");
        }
        return rows;
    }

    /** Returns the first of comma, semicolon and tab in the header; file names may have the others. */
    private static char separator(String text) {
        return (char) text.lines()
                .findFirst()
                .orElse("")
                .chars()
                .filter(letter -> letter == ',' || letter == ';' || letter == '\t')
                .findFirst()
                .orElse(',');
    }

    private static List<String> header(Path file, List<String> fields) throws DatasetException {
        List<String> header = new ArrayList<>(fields.stream()
                .map(field -> field.strip().toLowerCase(Locale.ROOT))
                .toList());
        SYNONYMS.forEach((column, synonyms) -> {
            if (!header.contains(column)) {
                synonyms.stream()
                        .filter(header::contains)
                        .findFirst()
                        .ifPresent(synonym -> header.set(header.indexOf(synonym), column));
            }
        });
        for (String column : List.of("path", "label")) {
            if (!header.contains(column)) {
                throw new DatasetException(
                        file,
                        "expected a header path,label[,fold], found no column '" + column + "' in "
                                + String.join(",", fields));
            }
        }
        if (header.stream().distinct().count() < header.size()) {
            throw new DatasetException(
                    file, "expected every column of the header once, found " + String.join(",", fields));
        }
        return header;
    }
}
