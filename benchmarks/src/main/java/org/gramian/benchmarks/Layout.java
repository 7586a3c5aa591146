package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** A {@link Report} as text: columns for the terminal, or Markdown. */
final class Layout {
    /** Columns from here on hold numbers and stand at the right, up to the remark. */
    private static final int NUMBERS = 2;

    private static final int REMARK = Report.HEADINGS.size() - 1;

    private Layout() {}

    /** Aligned columns, then the agreement of the sides, then the facts. */
    static String columns(Report report) {
        List<List<String>> lines = new ArrayList<>(List.of(Report.HEADINGS));
        lines.addAll(report.rows());
        int[] widths = new int[Report.HEADINGS.size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        lines.forEach(line -> text.append(aligned(line, widths)).append('\n'));
        text.append('\n');
        report.agreements().forEach(line -> text.append(line).append('\n'));
        report.facts()
                .forEach((name, fact) ->
                        text.append(name).append(": ").append(fact).append('\n'));
        return text.toString();
    }

    private static String aligned(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String blanks = " ".repeat(widths[i] - cells.get(i).length());
            line.append(i < NUMBERS || i == REMARK ? cells.get(i) + blanks : blanks + cells.get(i))
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    /** A page of its own. */
    static String markdown(Report report) {
        StringBuilder text = new StringBuilder("# Last run of `gramian bench`\n\n");
        text.append(markdownRow(Report.HEADINGS));
        text.append("|---|---|---:|---:|---:|---:|---:|---:|---|\n");
        report.rows().forEach(row -> text.append(markdownRow(row)));
        text.append("\nSpeedup: median of the first other side divided by the median of the row. Peak memory: of the"
                + " GPU if it is used, else of the process.\n\n");
        report.agreements()
                .forEach(line ->
                        text.append("- ").append(line.replace("|", "\\|")).append('\n'));
        text.append("\n| | |\n|---|---|\n");
        report.facts().forEach((name, fact) -> text.append(markdownRow(List.of(name, fact))));
        return text.toString();
    }

    private static String markdownRow(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
