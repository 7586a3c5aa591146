package org.gramian.report.table;

import java.util.List;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.gramian.report.table.TableSection.Cell;

/** Markdown, with the best value of a column in bold. */
final class MarkdownTable {
    private MarkdownTable() {}

    static String of(TableReport report) {
        StringBuilder text = new StringBuilder();
        for (TableSection section : report.sections()) {
            text.append("**").append(escaped(section.title())).append("**\n\n");
            line(text, section.head().stream().map(MarkdownTable::escaped).toList());
            text.append("|---|")
                    .append("---:|".repeat(section.head().size() - 1))
                    .append('\n');
            section.rows()
                    .forEach(row ->
                            line(text, row.stream().map(MarkdownTable::cell).toList()));
            text.append('\n');
        }
        report.notes().forEach(note -> text.append("- ").append(escaped(note)).append('\n'));
        fenced(text, "Command", List.of(report.command()));
        fenced(text, "Configuration", report.configuration());
        return text.toString();
    }

    private static void line(StringBuilder text, List<String> cells) {
        text.append(cells.stream().collect(Collectors.joining(" | ", "| ", " |")))
                .append('\n');
    }

    private static String cell(Cell cell) {
        return cell.best() ? "**" + escaped(cell.text()) + "**" : escaped(cell.text());
    }

    /** Uses a fence longer than any run of backticks inside. */
    private static void fenced(StringBuilder text, String title, List<String> lines) {
        String all = lines.stream().map(QuotedText::visible).collect(Collectors.joining("\n"));
        String fence = "```";
        while (all.contains(fence)) {
            fence += "`";
        }
        text.append('\n').append(title).append(":\n\n").append(fence).append('\n');
        text.append(all).append('\n').append(fence).append('\n');
    }

    /** Escapes Markdown and HTML. */
    static String escaped(String text) {
        return QuotedText.visible(text).replaceAll("[\\\\|*_`<>\\[\\]#~&]", "\\\\$0");
    }
}
