package org.gramian.cli.common;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.basis.CsvText;

/**
 * Cells under headings, as lines for people, as CSV or as Markdown.
 *
 * @param header names of the columns
 * @param rows cells, as many in each row as there are columns
 */
public record TextTable(List<String> header, List<List<String>> rows) {
    /** The ways in which a list is shown. */
    public enum Format {
        TABLE,
        JSON,
        CSV,
        MARKDOWN
    }

    public TextTable {
        header = List.copyOf(header);
        rows = rows.stream().map(List::copyOf).toList();
    }

    /** One line each for the header and every row, columns of numbers to the right; the last column is not filled up. */
    public List<String> lines() {
        List<String> forms = new ArrayList<>();
        for (int i = 0; i < header.size(); i++) {
            int column = i;
            int width = all().mapToInt(row -> row.get(column).length()).max().orElse(1);
            boolean numbers = rows.stream().allMatch(row -> row.get(column).matches("[\\d,]+|-"));
            forms.add("%" + (numbers ? "" : "-") + Math.max(width, 1) + "s");
        }
        return all().map(row -> IntStream.range(0, forms.size())
                        .mapToObj(i -> forms.get(i).formatted(row.get(i)))
                        .collect(Collectors.joining("  "))
                        .stripTrailing())
                .toList();
    }

    private Stream<List<String>> all() {
        return Stream.concat(Stream.of(header), rows.stream());
    }

    public String csv() {
        StringWriter text = new StringWriter();
        CsvWriter writer = CsvWriter.builder()
                .lineDelimiter(LineDelimiter.LF)
                .bufferSize(0)
                .build(text);
        all().forEach(row -> writer.writeRecord(CsvText.safe(row)));
        return text.toString();
    }

    public String markdown() {
        StringBuilder text = new StringBuilder(line(header))
                .append("|---".repeat(header.size()))
                .append("|\n");
        rows.forEach(row -> text.append(line(row)));
        return text.toString();
    }

    private static String line(List<String> cells) {
        return cells.stream()
                .map(cell -> cell.replace("|", "\\|").replace("<", "\\<"))
                .collect(Collectors.joining(" | ", "| ", " |\n"));
    }
}
