package org.gramian.report.table;

import java.util.List;

/**
 * A part of a table that is set as one: head and rows of equal length.
 *
 * @param title above it
 * @param head names of the columns
 * @param rows from top to bottom
 */
public record TableSection(String title, List<String> head, List<List<Cell>> rows) {
    public TableSection {
        head = List.copyOf(head);
        rows = rows.stream().map(List::copyOf).toList();
    }

    /**
     * A cell.
     *
     * @param text what stands in it
     * @param best whether it is the best of its column
     */
    public record Cell(String text, boolean best) {
        static Cell plain(String text) {
            return new Cell(text, false);
        }
    }
}
