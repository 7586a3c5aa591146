package org.gramian.run.table;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.run.config.Settings;

/**
 * The rows of a table and their common settings.
 *
 * @param rows from top to bottom; each has a name and a folder of its own
 * @param common settings of all rows
 * @param baseline name of the row that the others are tested against; empty: the first finished one
 * @param only names of the rows that are trained; others are shown if they are finished
 */
public record TablePlan(List<TableRow> rows, Settings common, Optional<String> baseline, Set<String> only) {
    /** @throws IllegalArgumentException if there is no row, a row is given twice, or a named row is missing */
    public TablePlan {
        rows = List.copyOf(rows);
        only = Set.copyOf(only);
        if (rows.isEmpty()) {
            throw new IllegalArgumentException("expected at least one row, found none");
        }
        requireDistinct(rows);
        List<TableRow> all = rows;
        baseline.ifPresent(name -> requireRow(all, "the baseline", name));
        for (String name : only) {
            requireRow(rows, "the selected rows", name);
        }
    }

    /** Returns a plan that trains all rows, with the first finished one as the baseline. */
    public static TablePlan of(List<TableRow> rows, Settings common) {
        return new TablePlan(
                rows,
                common,
                Optional.empty(),
                Set.copyOf(rows.stream().map(TableRow::name).toList()));
    }

    /** Returns the same plan with another baseline. */
    public TablePlan against(String other) {
        return new TablePlan(rows, common, Optional.of(other), only);
    }

    /** Returns the same plan that trains some rows only. */
    public TablePlan training(Set<String> some) {
        return new TablePlan(rows, common, baseline, some);
    }

    private static void requireDistinct(List<TableRow> rows) {
        Map<String, String> folders = new HashMap<>();
        for (TableRow row : rows) {
            String other = folders.put(row.folder(), row.name());
            if (row.name().equals(other)) {
                throw new IllegalArgumentException(
                        "expected every row once, found " + QuotedText.text(other) + " twice");
            }
            if (other != null) {
                throw new IllegalArgumentException(
                        "the rows " + QuotedText.text(other) + " and " + QuotedText.text(row.name())
                                + " would share the folder " + QuotedText.text(row.folder())
                                + "; give one of them another label, LABEL="
                                + row.pooling());
            }
        }
    }

    private static void requireRow(List<TableRow> rows, String what, String name) {
        List<String> names = rows.stream().map(TableRow::name).toList();
        if (!names.contains(name)) {
            throw new IllegalArgumentException(what + ": expected one of the rows " + String.join(", ", names)
                    + ", found " + QuotedText.text(name) + NearestWord.suggestion(name, names));
        }
    }
}
