package org.gramian.report.table;

import java.util.List;
import java.util.stream.IntStream;
import org.gramian.report.ReportFile;

/**
 * Self-contained HTML page of a table: methods by dataset in the order of the table, then each dataset with the best method first.
 *
 * @param report the table
 */
public record TablePage(TableReport report) {
    /** Renders the page. */
    public String html() {
        return ReportFile.render("table.jte", this);
    }

    /** Returns the sections from the top to the bottom. */
    public List<TableSection> sections() {
        return IntStream.range(-1, report.table().columns().size())
                .mapToObj(column -> column < 0 ? report.overview() : report.ranking(column))
                .toList();
    }

    /** Returns the title of the page. */
    public String title() {
        int methods = report.table().lines().size();
        return methods
                + (methods == 1 ? " method on " : " methods on ")
                + String.join(
                        ", ",
                        report.table().columns().stream()
                                .map(column -> column.title())
                                .toList());
    }
}
