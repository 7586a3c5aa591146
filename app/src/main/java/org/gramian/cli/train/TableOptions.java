package org.gramian.cli.train;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.report.table.TableFormat;
import org.gramian.run.config.Settings;
import org.gramian.run.table.RowList;
import org.gramian.run.table.TablePlan;
import org.gramian.run.table.TablePreset;
import org.gramian.run.table.TableRow;
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

    @Option(names = "--only", paramLabel = "ROW,...", description = "train only these rows, by name or title")
    private List<String> only = new ArrayList<>();

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
            description = "print as markdown, csv, latex, html or json; the folder gets all of them")
    private @Nullable String format;

    @Option(names = "--dry-run", description = "show rows, sizes and estimated time; do not train")
    private boolean dry;

    @Mixin
    private final ContextOptions training = new ContextOptions();

    /** Returns whether a table is to be trained. */
    boolean wanted() {
        return !methods.isEmpty() || preset != null;
    }

    /** Returns the given options that apply to a table only. */
    List<String> typed() {
        List<String> names = new ArrayList<>();
        add(names, "--set-for", !settings.isEmpty());
        add(names, "--only", !only.isEmpty());
        add(names, "--baseline", baseline != null);
        add(names, "--out", out != null);
        add(names, "--format", format != null);
        add(names, "--dry-run", dry);
        names.addAll(training.given());
        return names;
    }

    private static void add(List<String> names, String name, boolean typed) {
        if (typed) {
            names.add(name);
        }
    }

    Optional<TablePreset> preset() {
        return Optional.ofNullable(preset).map(TablePreset::parse);
    }

    Optional<TableFormat> form() {
        return Optional.ofNullable(format).map(TableFormat::parse);
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
        String table = preset == null ? "table" : preset().orElseThrow().name().toLowerCase(Locale.ROOT);
        return Path.of("runs", table + "-" + String.join("-", images));
    }

    /** Returns the rows and their common settings. */
    TablePlan plan(Settings common) {
        List<TableRow> rows = new ArrayList<>(preset().map(TablePreset::rows).orElse(List.of()));
        for (String text : methods) {
            rows.addAll(rows(text));
        }
        for (String text : settings) {
            set(rows, text);
        }
        TablePlan plan = TablePlan.of(rows, common);
        RowNames names = new RowNames(rows);
        plan = baseline == null ? plan : plan.against(names.one("--baseline", baseline));
        return only.isEmpty() ? plan : plan.training(names.some("--only", only));
    }

    private static List<TableRow> rows(String text) {
        try {
            return RowList.parse(text);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("--methods: " + wrong.getMessage(), wrong);
        }
    }

    private static void set(List<TableRow> rows, String text) {
        RowNames.Own own = new RowNames(rows).own("--set-for", text);
        try {
            rows.replaceAll(row -> row.name().equals(own.row()) ? row.with(own.key(), own.value()) : row);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException("--set-for: " + wrong.getMessage(), wrong);
        }
    }

    /**
     * Finds rows of a table by name or title.
     *
     * @param rows of the table
     */
    private record RowNames(List<TableRow> rows) {
        RowNames {
            rows = List.copyOf(rows);
        }

        /**
         * Returns the name of a row.
         *
         * @param option name of the option, for the message
         * @throws IllegalArgumentException if there is no such row
         */
        String one(String option, String typed) {
            return find(typed)
                    .orElseThrow(() -> new IllegalArgumentException(option + ": expected one of the rows "
                            + String.join(", ", names()) + ", found " + QuotedText.text(typed)
                            + NearestWord.suggestion(typed, names())));
        }

        /** Returns the names of rows joined by commas; a name may itself contain commas. */
        Set<String> some(String option, List<String> typed) {
            return typed.stream()
                    .flatMap(text -> find(text).isPresent()
                            ? Stream.of(text)
                            : Arrays.stream(text.split(",", -1)).map(String::strip))
                    .map(text -> one(option, text))
                    .collect(Collectors.toCollection(LinkedHashSet::new));
        }

        /**
         * A setting of one row, {@code ROW:KEY=VALUE}.
         *
         * @param row the name of the row
         * @param key its key
         * @param value its value
         */
        record Own(String row, String key, String value) {}

        /** Parses a setting; takes the longest row name or title at the start, since poolings contain colons. */
        Own own(String option, String typed) {
            String row = rows.stream()
                    .flatMap(one -> Stream.of(one.name(), one.title()))
                    .filter(word -> typed.startsWith(word + ":"))
                    .max((first, second) -> Integer.compare(first.length(), second.length()))
                    .orElseThrow(
                            () -> new IllegalArgumentException(option + ": expected ROW:KEY=VALUE with one of the rows "
                                    + String.join(", ", names()) + ", found " + QuotedText.text(typed)
                                    + NearestWord.suggestion(typed.split(":", 2)[0], names())));
            String pair = typed.substring(row.length() + 1);
            int equals = pair.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException(option
                        + ": expected ROW:KEY=VALUE, e.g. isqrt:stage1.rate=0.01, found " + QuotedText.text(typed));
            }
            return new Own(find(row).orElseThrow(), pair.substring(0, equals).strip(), pair.substring(equals + 1));
        }

        private List<String> names() {
            return rows.stream().map(TableRow::name).toList();
        }

        private Optional<String> find(String typed) {
            return Stream.concat(
                            rows.stream().filter(row -> row.name().equals(typed)),
                            rows.stream().filter(row -> row.title().equalsIgnoreCase(typed)))
                    .map(TableRow::name)
                    .findFirst();
        }
    }
}
