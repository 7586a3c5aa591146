package org.gramian.cli.common;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.gramian.basis.QuotedText;

/**
 * Rows of cells as lines of text: the first column to the left, the others to the right, each as wide as it needs. Cells
 * may hold names from the disk: characters that a terminal would obey are not passed on to it.
 */
public final class Columns {
    private final List<List<String>> rows = new ArrayList<>();

    /** Adds a row, which may be shorter than others. */
    public Columns row(List<String> cells) {
        rows.add(cells.stream().map(QuotedText::visible).toList());
        return this;
    }

    public Columns row(String... cells) {
        return row(List.of(cells));
    }

    /** Returns the lines. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        List<Integer> widths = new ArrayList<>();
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                if (i == widths.size()) {
                    widths.add(0);
                }
                widths.set(i, Math.max(widths.get(i), row.get(i).length()));
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder(pad(row.getFirst(), "-", widths.getFirst()));
            for (int i = 1; i < row.size(); i++) {
                line.append("  ").append(pad(row.get(i), "", widths.get(i)));
            }
            text.append(line.toString().stripTrailing()).append(System.lineSeparator());
        }
        return text.toString();
    }

    private static String pad(String cell, String side, int width) {
        return width == 0 ? cell : String.format(Locale.ROOT, "%" + side + width + "s", cell);
    }
}
