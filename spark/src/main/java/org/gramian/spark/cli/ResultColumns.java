package org.gramian.spark.cli;

import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.gramian.spark.executor.Columns;
import picocli.CommandLine.Option;

/** What columns of results are called, which stand beside the columns of the table that images came in. */
final class ResultColumns {
    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            defaultValue = "",
            description = "prefix of all result columns, e.g. pred_, for input tables that have columns of these names")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String prefix;

    String prefix() {
        return prefix;
    }

    /** The full name of a column of results. */
    String name(String result) {
        return prefix + result;
    }

    /** A column of results. */
    Column of(String result) {
        return Columns.named(name(result));
    }

    /** Columns by their very names. */
    static List<Column> columns(List<String> names) {
        return names.stream().map(Columns::named).toList();
    }

    /**
     * Looks before any work is done.
     *
     * @throws IllegalArgumentException if a table has columns of the results' names, in large letters or small ones, which Spark does
     *     not tell apart
     */
    void check(Dataset<Row> table, List<String> results) {
        TreeSet<String> taken = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        taken.addAll(Arrays.asList(table.columns()));
        String both = results.stream().map(this::name).filter(taken::contains).collect(Collectors.joining(", "));
        if (!both.isEmpty()) {
            throw new IllegalArgumentException("expected an input table without the result columns, found " + both
                    + "; rename them, or use a prefix for the results, e.g. --prefix pred_");
        }
    }
}
