package org.gramian.image.dataset.layout;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.DatasetException;
import org.gramian.image.dataset.Part;
import org.gramian.image.dataset.Split;

/** What the fold column of a CSV file says: numbers of folds, or parts of one split. */
final class FoldColumn {
    private static final Map<String, Part> PARTS = Map.of(
            "train", Part.TRAIN,
            "val", Part.VALIDATION,
            "valid", Part.VALIDATION,
            "validation", Part.VALIDATION,
            "test", Part.TEST);

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
            Part part = PARTS.get(fold);
            if (numbers && isNumber(fold)) {
                folds.add(Integer.valueOf(fold));
            } else if (!numbers && part != null) {
                parts.add(part);
            } else {
                throw row.wrong("expected as fold a number from 0 to 9999 in every row, or train, val or test in every"
                        + " row, found '" + fold + "'");
            }
        }
        return numbers ? new Assignment.Folds(folds) : new Assignment.Splits(List.of(new Split(Published.ONLY, parts)));
    }

    private static String fold(CsvRows.Row row) {
        return row.fold().orElse("");
    }

    private static boolean isNumber(String text) {
        return text.matches("\\d{1,4}");
    }
}
