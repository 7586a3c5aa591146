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
 * The rows of a table, and what they have in common.
 *
 * @param rows from top to bottom; each has a name and a folder of its own
 * @param common what is asked for in every row
 * @param baseline the name of the row that the others are tested against; without it the first one that is finished
 * @param only names of the rows that are trained; others are shown if they are finished
 */
public record TablePlan(List<TableRow> rows, Settings common, Optional<String> baseline, Set<String> only) {
    /** @throws IllegalArgumentException if there is no row, one is there twice, or one that is named is not there */
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

    /** All rows, the first one that is finished as the baseline. */
    public static TablePlan of(List<TableRow> rows, Settings common) {
        return new TablePlan(
                rows,
                common,
                Optional.empty(),
                Set.copyOf(rows.stream().map(TableRow::name).toList()));
    }

    /** The same with another baseline. */
    public TablePlan against(String other) {
        return new TablePlan(rows, common, Optional.of(other), only);
    }

    /** The same table, of which only some rows are trained. */
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
