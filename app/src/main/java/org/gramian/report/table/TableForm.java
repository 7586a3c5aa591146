package org.gramian.report.table;

import org.gramian.basis.EnumWords;

/** The forms in which a table is kept. */
public enum TableForm {
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

    TableForm(String file) {
        this.file = file;
    }

    /** The name of its file. */
    public String file() {
        return file;
    }

    /** The whole file. */
    public abstract String render(TableReport report);

    /** The form of a word, as {@code latex}. */
    public static TableForm parse(String text) {
        return EnumWords.parse(TableForm.class, "the format", text);
    }
}
