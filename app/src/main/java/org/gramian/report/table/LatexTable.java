package org.gramian.report.table;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.gramian.basis.QuotedText;
import org.gramian.report.table.TableSection.Cell;

/** LaTeX without packages: plain rules, the best value of a column in bold. */
final class LatexTable {
    private static final Map<Integer, String> SIGNS = Map.ofEntries(
            sign('&', "\\&"),
            sign('%', "\\%"),
            sign('$', "\\$"),
            sign('#', "\\#"),
            sign('_', "\\_"),
            sign('{', "\\{"),
            sign('}', "\\}"),
            sign('~', "\\textasciitilde{}"),
            sign('^', "\\textasciicircum{}"),
            sign('\\', "\\textbackslash{}"),
            sign('<', "$<$"),
            sign('>', "$>$"),
            sign('|', "$|$"),
            sign('±', "$\\pm$"),
            sign('×', "$\\times$"),
            sign('–', "--"),
            sign('→', "$\\to$"),
            sign('−', "$-$"),
            sign('"', "''"));

    /** Hyphen used as a minus sign, not within a word or a number like 1e-4. */
    private static final Pattern MINUS = Pattern.compile("(?<![\\p{L}\\p{N}])-(?=[\\d.])");

    private LatexTable() {}

    private static Map.Entry<Integer, String> sign(char sign, String text) {
        return Map.entry((int) sign, text);
    }

    static String of(TableReport report) {
        StringBuilder text = new StringBuilder();
        comment(text, report.command());
        report.configuration().forEach(line -> comment(text, line));
        for (TableSection section : report.sections()) {
            text.append("\n% ").append(QuotedText.visible(section.title())).append('\n');
            text.append("\\begin{tabular}{l")
                    .append("r".repeat(section.head().size() - 1))
                    .append("}\n\\hline\n");
            line(text, section.head().stream().map(LatexTable::escaped).toList());
            text.append("\\hline\n");
            section.rows()
                    .forEach(
                            row -> line(text, row.stream().map(LatexTable::cell).toList()));
            text.append("\\hline\n\\end{tabular}\n");
        }
        text.append('\n');
        report.notes().forEach(note -> comment(text, note));
        return text.toString();
    }

    /** Keeps a comment in its line. */
    private static void comment(StringBuilder text, String line) {
        text.append("% ").append(QuotedText.visible(line)).append('\n');
    }

    private static void line(StringBuilder text, List<String> cells) {
        text.append(String.join(" & ", cells)).append(" \\\\\n");
    }

    private static String cell(Cell cell) {
        return cell.best() ? "\\textbf{" + escaped(cell.text()) + "}" : escaped(cell.text());
    }

    /** Escapes LaTeX. A row that begins with a bracket must not become an argument. */
    static String escaped(String text) {
        String plain = MINUS.matcher(QuotedText.visible(text))
                .replaceAll("−")
                .codePoints()
                .mapToObj(sign -> SIGNS.getOrDefault(sign, Character.toString(sign)))
                .collect(Collectors.joining());
        return plain.startsWith("[") || plain.startsWith("*") ? "{}" + plain : plain;
    }
}
