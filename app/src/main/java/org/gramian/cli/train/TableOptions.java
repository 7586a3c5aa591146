package org.gramian.cli.train;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.run.config.Settings;
import org.gramian.table.TablePreset;
import org.gramian.table.TableReport;
import org.gramian.table.TableRow;
import org.gramian.table.TableRun;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a table of methods: its rows, what of it is trained, and where it goes. */
final class TableOptions {
    @Option(
            names = "--methods",
            paramLabel = "ROWS",
            description = {
                "methods to train and compare, e.g. average,bcnn,mine=conv:64/covariance/log/triu",
                "(names of 'gramian methods', poolings, or LABEL=POOLING); repeatable"
            })
    private List<String> methods = new ArrayList<>();

    @Option(
            names = "--preset",
            paramLabel = "WORD",
            description = {"methods of table1 or table2 of the paper, or the second-order family; --methods adds rows"})
    private @Nullable String preset;

    @Option(
            names = "--set-for",
            paramLabel = "ROW:KEY=VALUE",
            description = "a key for one row, e.g. isqrt:stage1.rate=0.01; repeatable")
    private List<String> settings = new ArrayList<>();

    @Option(
            names = "--baseline",
            paramLabel = "ROW",
            description = "baseline of the paired tests (default: the first finished row)")
    private @Nullable String baseline;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "FOLDER",
            description = "folder of the table (default: runs/<table>-<images>)")
    private @Nullable Path out;

    @Option(
            names = "--format",
            paramLabel = "FORM",
            description = "print as markdown, csv or json; the folder gets all of them")
    private @Nullable String format;

    @Option(names = "--dry-run", description = "show rows, sizes and estimated time; do not train")
    private boolean dry;

    @Mixin
    private final ContextOptions training = new ContextOptions();

    /** Returns whether a table is to be trained. */
    boolean wanted() {
        return !methods.isEmpty() || preset != null;
    }

    Optional<TablePreset> preset() {
        return Optional.ofNullable(preset).map(TablePreset::parse);
    }

    Optional<TableReport.Format> format() {
        return Optional.ofNullable(format).map(TableReport.Format::parse);
    }

    boolean dry() {
        return dry;
    }

    ContextOptions training() {
        return training;
    }

    /** Returns the folder: the same for the same rows and images, so that the same command resumes. */
    Path out(List<String> images) {
        if (out != null) {
            return out;
        }
        String table = preset().map(EnumWords::text).orElse("table");
        return Path.of("runs", table + "-" + String.join("-", images));
    }

    TableRun.Plan plan(Settings common) {
        List<TableRow> rows = new ArrayList<>(preset().map(TablePreset::rows).orElse(List.of()));
        methods.forEach(text -> rows.addAll(named("--methods", () -> TableRow.parse(text))));
        settings.forEach(text -> set(rows, text));
        if (baseline != null && !names(rows).contains(baseline)) {
            throw new IllegalArgumentException("--baseline: expected one of the rows "
                    + String.join(", ", names(rows)) + ", found " + QuotedText.text(baseline)
                    + NearestWord.suggestion(baseline, names(rows)));
        }
        return new TableRun.Plan(rows, common, Optional.ofNullable(baseline));
    }

    /** Adds the setting {@code ROW:KEY=VALUE} to its row: the longest name, since poolings contain colons. */
    private static void set(List<TableRow> rows, String text) {
        String name = names(rows).stream()
                .filter(word -> text.startsWith(word + ":"))
                .max(Comparator.comparingInt(String::length))
                .orElseThrow(
                        () -> new IllegalArgumentException("--set-for: expected ROW:KEY=VALUE with one of the rows "
                                + String.join(", ", names(rows)) + ", found " + QuotedText.text(text)
                                + NearestWord.suggestion(text.split(":", 2)[0], names(rows))));
        String[] pair = text.substring(name.length() + 1).split("=", 2);
        if (pair.length < 2 || pair[0].isEmpty()) {
            throw new IllegalArgumentException(
                    "--set-for: expected ROW:KEY=VALUE, e.g. isqrt:stage1.rate=0.01, found " + QuotedText.text(text));
        }
        rows.replaceAll(row ->
                row.name().equals(name) ? named("--set-for", () -> row.with(pair[0].strip(), pair[1])) : row);
    }

    /** Adds the name of the option to an error message. */
    private static <T> T named(String option, Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(option + ": " + wrong.getMessage(), wrong);
        }
    }

    private static List<String> names(List<TableRow> rows) {
        return rows.stream().map(TableRow::name).toList();
    }
}
