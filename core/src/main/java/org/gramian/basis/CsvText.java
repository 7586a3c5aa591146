package org.gramian.basis;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Fields of CSV files that neither spreadsheets nor terminals execute.
 *
 * <p>A spreadsheet takes a field that begins with {@code = + - @} for a formula, and a terminal obeys escape sequences. Names of
 * files and classes come from others, so that a file named {@code =HYPERLINK(…)} must stay a name.
 */
public final class CsvText {
    private static final Pattern FORMULA = Pattern.compile("'*[=+\\-@\\t\\r].*", Pattern.DOTALL);
    /** Control characters, and a backslash that would be read as the start of an escaped one. */
    private static final Pattern CONTROL =
            Pattern.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]|\\\\(?=u00[0-9a-f]{2})");

    private static final Pattern NUMBER =
            Pattern.compile("[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([eE][+-]?\\d+)?|[+-]?(NaN|Infinity)");

    private CsvText() {}

    /**
     * Returns a field that is safe to open: control characters other than tabs and line ends are escaped as in JSON, and what looks
     * like a formula and is no number gets an apostrophe in front, which spreadsheets do not show.
     */
    public static String safe(String field) {
        String visible = CONTROL.matcher(field)
                .replaceAll(found -> "\\\\u%04x".formatted((int) found.group().charAt(0)));
        return FORMULA.matcher(visible).matches() && !NUMBER.matcher(visible).matches() ? "'" + visible : visible;
    }

    public static List<String> safe(Collection<String> fields) {
        return fields.stream().map(CsvText::safe).toList();
    }

    /** Writes rows as CSV in UTF-8, atomically, with fields that no spreadsheet takes for formulas. */
    public static void write(Path path, Consumer<Consumer<List<String>>> content) throws IOException {
        AtomicFile.putText(path, text -> {
            CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text);
            content.accept(fields -> csv.writeRecord(safe(fields)));
            csv.flush();
        });
    }
}
