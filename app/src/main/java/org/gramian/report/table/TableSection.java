package org.gramian.report.table;

import java.util.List;

/**
 * Table with a header and rows of equal length.
 *
 * @param title heading
 * @param head column names
 * @param rows from top to bottom
 */
public record TableSection(String title, List<String> head, List<List<Cell>> rows) {
    public TableSection {
        head = List.copyOf(head);
        rows = rows.stream().map(List::copyOf).toList();
    }

    /**
     * Table cell.
     *
     * @param text content
     * @param best whether it is the best value of its column
     */
    public record Cell(String text, boolean best) {
        static Cell plain(String text) {
            return new Cell(text, false);
        }
    }
}
