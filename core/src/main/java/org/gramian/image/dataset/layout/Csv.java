package org.gramian.image.dataset.layout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Note.Kind;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;
import org.gramian.image.dataset.layout.DatasetBuilder.Entry;

/**
 * A CSV file with a header and the columns {@code path,label} and optionally {@code fold}.
 *
 * <p>Paths are relative to the root, which defaults to the CSV's folder, and must stay below it; extensions do not matter. The
 * fold is the number of the fold that tests an image, or one of {@code train}, {@code val}, {@code test} in any case, the same kind
 * in all rows. Without {@code test}, {@code val} becomes the test set, and a note reports it.
 *
 * @param root what paths are relative to, if it is not the CSV's folder
 */
record Csv(Optional<Path> root) implements Layout {
    private static final String NAME = "csv";

    /** Paths are relative to the CSV's folder. */
    public Csv() {
        this(Optional.empty());
    }

    @Override
    public String text() {
        return NAME + root.map(folder -> ":" + folder).orElse("");
    }

    @Override
    public boolean matches(Path place) {
        return Files.isRegularFile(place)
                && Listing.name(place).toLowerCase(Locale.ROOT).endsWith(".csv");
    }

    @Override
    public Dataset read(Path place) throws IOException {
        CsvRows table = CsvRows.read(place);
        // From all rows, including those of missing images.
        boolean validationTests = FoldColumn.validationTests(FoldColumn.assignment(table.rows()));
        DatasetBuilder builder = new DatasetBuilder(root.orElseGet(() -> folder(place)));
        table.unused().forEach(column -> builder.note(Kind.UNUSED_COLUMNS, column));
        Map<String, CsvRows.Row> rows = distinct(builder, table.rows());
        Map<String, String> listed = new HashMap<>();
        Set<String> presentClasses = new HashSet<>();
        Set<String> present = new HashSet<>();
        rows.forEach((name, row) -> {
            listed.put(name, row.label());
            Path file = builder.root().resolve(name);
            if (Files.isRegularFile(file)) {
                builder.add(new Entry(name, row.label(), file, Optional.empty()));
                present.add(name);
                presentClasses.add(row.label());
            }
        });
        requireSome(builder, rows, presentClasses);
        builder.noteAbsent(listed, present, presentClasses);
        List<CsvRows.Row> inOrder = builder.entries().stream()
                .map(entry -> Optional.ofNullable(rows.get(entry.name())).orElseThrow())
                .toList();
        Assignment assignment = FoldColumn.assignment(inOrder);
        if (validationTests) {
            builder.note(Kind.VALIDATION_TESTS, Part.VALIDATION.word());
            assignment = FoldColumn.testingByValidation(assignment);
        }
        Dataset dataset = builder.anyClasses(this, assignment);
        if (dataset.classes().size() < 2) {
            throw new DatasetException(
                    place,
                    "expected images of at least two classes, found only the class '"
                            + dataset.classes().getFirst() + "'",
                    dataset);
        }
        return dataset;
    }

    private static Path folder(Path csv) {
        Path parent = csv.getParent();
        return parent == null ? Path.of("") : parent;
    }

    /** Returns the rows by image name; notes repeated rows and rejects contradicting ones. */
    private static Map<String, CsvRows.Row> distinct(DatasetBuilder builder, List<CsvRows.Row> rows)
            throws DatasetException {
        Map<String, CsvRows.Row> distinct = new LinkedHashMap<>();
        for (CsvRows.Row row : rows) {
            String name = name(builder, row);
            CsvRows.Row before = distinct.putIfAbsent(name, row);
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

    private static String name(DatasetBuilder builder, CsvRows.Row row) throws DatasetException {
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

    private static void requireSome(DatasetBuilder builder, Map<String, CsvRows.Row> rows, Set<String> presentClasses)
            throws DatasetException {
        CsvRows.Row first = rows.values().iterator().next();
        if (presentClasses.isEmpty()) {
            String hint = first.path().contains("\\") ? "; write paths with '/'" : "; pass another root";
            throw new DatasetException(
                    first.file(),
                    "expected images below " + builder.root() + ", found none of the " + rows.size()
                            + " listed, the first being '" + first.path() + "'" + hint);
        }
    }

    /** Parses the fold column of a CSV file: numbers of folds, or parts of one split. */
    private static final class FoldColumn {
        private FoldColumn() {}

        /** Returns the assignment of the rows, in their order; the first row decides between numbers and parts. */
        static Assignment assignment(List<CsvRows.Row> rows) throws DatasetException {
            if (rows.isEmpty() || rows.getFirst().fold().isEmpty()) {
                return new Assignment.None();
            }
            boolean numbers = isNumber(fold(rows.getFirst()));
            List<Integer> folds = new ArrayList<>();
            List<Part> parts = new ArrayList<>();
            for (CsvRows.Row row : rows) {
                String fold = fold(row);
                Optional<Part> part = SplitFolders.part(fold);
                if (numbers && isNumber(fold)) {
                    folds.add(Integer.valueOf(fold));
                } else if (!numbers && part.isPresent()) {
                    parts.add(part.get());
                } else {
                    throw row.wrong(
                            "expected as fold a number from 0 to 9999 in every row, or train, val or test in every"
                                    + " row, found '" + fold + "'");
                }
            }
            return numbers
                    ? new Assignment.Folds(folds)
                    : new Assignment.Splits(List.of(new Split(DatasetBuilder.ONLY_SPLIT, parts)));
        }

        /** Returns whether the validation set is used as the test set, as in {@link SplitFolders}. */
        static boolean validationTests(Assignment assignment) {
            return assignment instanceof Assignment.Splits(List<Split> splits)
                    && splits.stream()
                            .allMatch(split -> split.parts().contains(Part.VALIDATION)
                                    && !split.parts().contains(Part.TEST));
        }

        /** Returns the assignment with the validation set as the test set. */
        static Assignment testingByValidation(Assignment assignment) {
            if (!(assignment instanceof Assignment.Splits(List<Split> splits))) {
                return assignment;
            }
            return new Assignment.Splits(splits.stream()
                    .map(split -> new Split(
                            split.name(),
                            split.parts().stream()
                                    .map(part -> part == Part.VALIDATION ? Part.TEST : part)
                                    .toList()))
                    .toList());
        }

        private static String fold(CsvRows.Row row) {
            return row.fold().orElse("");
        }

        private static boolean isNumber(String text) {
            return text.matches("\\d{1,4}");
        }
    }
}
