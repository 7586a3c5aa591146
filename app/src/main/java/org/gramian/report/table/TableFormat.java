package org.gramian.report.table;

import org.gramian.basis.EnumWords;

/** File formats of a table. */
public enum TableFormat {
    MARKDOWN("table.md"),
    CSV("table.csv"),
    LATEX("table.tex"),
    HTML("table.html"),
    JSON("table.json");

    private final String file;

    TableFormat(String file) {
        this.file = file;
    }

    /** Returns the file name. */
    public String file() {
        return file;
    }

    /** Renders the whole file. */
    public String render(TableReport report) {
        return switch (this) {
            case MARKDOWN -> MarkdownTable.of(report);
            case CSV -> CsvTable.of(report);
            case LATEX -> LatexTable.of(report);
            case HTML -> new TablePage(report).html();
            case JSON -> JsonTable.of(report);
        };
    }

    /** Parses a format such as {@code latex}. */
    public static TableFormat parse(String text) {
        return EnumWords.parse(TableFormat.class, "the format", text);
    }
}
