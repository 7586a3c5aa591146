package org.gramian.image.dataset.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/** What the fold column of a CSV file says: numbers of folds, or parts of one split. */
final class FoldColumn {
    private FoldColumn() {}

    /** The assignment of the rows, in their order; the first row decides which way the column is meant. */
    static Assignment assignment(List<CsvRows.Row> rows) throws DatasetException {
        if (rows.isEmpty() || rows.getFirst().fold().isEmpty()) {
            return new Assignment.None();
        }
        boolean numbers = isNumber(fold(rows.getFirst()));
        List<Integer> folds = new ArrayList<>();
        List<Part> parts = new ArrayList<>();
        for (CsvRows.Row row : rows) {
            String fold = fold(row);
            Optional<Part> part = PartNames.of(fold);
            if (numbers && isNumber(fold)) {
                folds.add(Integer.valueOf(fold));
            } else if (!numbers && part.isPresent()) {
                parts.add(part.get());
            } else {
                throw row.wrong("expected as fold a number from 0 to 9999 in every row, or train, val or test in every"
                        + " row, found '" + fold + "'");
            }
        }
        return numbers ? new Assignment.Folds(folds) : new Assignment.Splits(List.of(new Split(Published.ONLY, parts)));
    }

    /** Whether images to validate have to test, as no row has the part test: the rule of {@link SplitFolders}. */
    static boolean validationTests(Assignment assignment) {
        return assignment instanceof Assignment.Splits(List<Split> splits)
                && splits.stream()
                        .allMatch(split -> split.parts().contains(Part.VALIDATION)
                                && !split.parts().contains(Part.TEST));
    }

    /** The same assignment with all that would validate testing. */
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
