package org.gramian.report.table;

import org.gramian.basis.EnumWords;

/** File formats of a table. */
public enum TableFormat {
    MARKDOWN("table.md") {
        @Override
        public String render(TableReport report) {
            return MarkdownTable.of(report);
        }
    },
    CSV("table.csv") {
        @Override
        public String render(TableReport report) {
            return CsvTable.of(report);
        }
    },
    LATEX("table.tex") {
        @Override
        public String render(TableReport report) {
            return LatexTable.of(report);
        }
    },
    HTML("table.html") {
        @Override
        public String render(TableReport report) {
            return new TablePage(report).html();
        }
    },
    JSON("table.json") {
        @Override
        public String render(TableReport report) {
            return JsonTable.of(report);
        }
    };

    private final String file;

    TableFormat(String file) {
        this.file = file;
    }

    /** Returns the file name. */
    public String file() {
        return file;
    }

    /** Renders the whole file. */
    public abstract String render(TableReport report);

    /** Parses a format such as {@code latex}. */
    public static TableFormat parse(String text) {
        return EnumWords.parse(TableFormat.class, "the format", text);
    }
}
