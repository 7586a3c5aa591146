package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.gramian.accelerate.Rule;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.EnumWords;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.TorchOptions;
import org.gramian.evaluate.Metric;
import org.gramian.image.dataset.Note;
import org.gramian.report.Figures;
import org.gramian.run.ExistingRun;
import org.gramian.run.RunResult;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.table.ResultTable;
import org.gramian.table.TablePreset;
import org.gramian.table.TableReport;
import org.gramian.table.TableRow;
import org.gramian.table.TableRun;
import org.gramian.table.TableRun.Entry;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Options of {@code gramian compare DIR --methods}, and its run: every row is trained on the same folds and crops, and the table is
 * written after each row.
 */
final class TableTraining {
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

    @Option(names = "--set-for", paramLabel = "ROW:KEY=VALUE", description = "e.g. isqrt:stage1.rate=0.01; repeatable")
    private List<String> settings = new ArrayList<>();

    @Option(names = "--baseline", paramLabel = "ROW", description = "row that the others are tested against")
    private @Nullable String baseline;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "FOLDER",
            description = "folder (default: runs/<table>-<images>)")
    private @Nullable Path out;

    @Option(names = "--dry-run", description = "show rows, sizes and estimated time; do not train")
    private boolean dry;

    @Mixin
    private final ContextOptions context = new ContextOptions();

    boolean wanted() {
        return !methods.isEmpty() || preset != null;
    }

    Optional<TablePreset> preset() {
        return Optional.ofNullable(preset).map(TablePreset::parse);
    }

    /** Returns the folder: the same for the same rows and images, so that the same command resumes. */
    private Path out(List<String> images) {
        if (out != null) {
            return out;
        }
        String table = preset().map(EnumWords::text).orElse("table");
        return Path.of("runs", table + "-" + String.join("-", images));
    }

    private TableRun.Plan plan(Settings common) {
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

    /**
     * Trains the table, or prints its plan with {@code --dry-run}.
     *
     * @param images folders of the datasets
     * @param cache folder of the feature cache
     */
    int run(Console console, TrainOptions training, List<Path> images, TorchOptions torch, Optional<Path> cache)
            throws IOException, InterruptedException {
        TableRun.Plan plan = plan(common(console, training, torch));
        plan.common().find(TrainConfig.ACCELERATE).ifPresent(Rule::use);
        List<TableRun.Data> data = TableRun.Data.open(images, plan.common().find(TrainConfig.LAYOUT));
        data.forEach(one -> one.dataset().notes().stream()
                .filter(note -> note.kind() != Note.Kind.EMPTY_CLASSES) // training rejects those
                .forEach(note -> console.say(one.name() + ": " + note.text())));
        Path folder = usable(out(data.stream().map(TableRun.Data::name).toList()));
        Device device = context.prepare(torch);
        TableRun run = new TableRun(plan, data, folder, training.store(), cache);
        try (TrainDisplay display = new TrainDisplay(console)) {
            TrainingContext running = context.context(device, display, Cancellation.onRequest());
            Session session = new Session(console, display, run, folder);
            if (dry) { // nothing to save: Ctrl-C may end the process at once
                run.prepare(running);
                console.print(session.planText());
                return session.code();
            }
            try (Interruption interruption = new Interruption(running.cancellation(), console::warn)) {
                run.prepare(running);
                console.say("table folder: " + folder);
                running.throwIfCancelled();
                session.remarks().forEach(console::say);
                interruption.keeps(context.keepEvery());
                Optional<Cancellation.Reason> early = run.train(running, session);
                console.print(Session.text(session.write()));
                if (early.isPresent()) {
                    console.warn("interrupted; resume with: " + console.line());
                    return ExitCode.INTERRUPTED;
                }
                return session.code();
            } catch (InterruptedTrainingException _) {
                console.warn("interrupted before training began; start again with: " + console.line());
                return ExitCode.INTERRUPTED;
            }
        }
    }

    /** Returns the given settings without the pooling, which is set per row. */
    private static Settings common(Console console, TrainOptions training, TorchOptions torch) throws IOException {
        Settings requested = training.requested(torch, console::say).wanted();
        Map<String, Settings.Setting> values = new LinkedHashMap<>(requested.values());
        Settings.Setting pooling = values.remove("network.pooling");
        if (console.typed(Set.of()).contains("--pooling")) {
            throw new IllegalArgumentException(
                    "--pooling: every row of a table has its own pooling; add a row with --methods LABEL="
                            + (pooling == null ? "SPEC" : pooling.text()));
        }
        if (pooling != null) {
            console.say("network.pooling " + pooling.text() + " (" + pooling.origin()
                    + ") is ignored: every row of a table has its own pooling");
        }
        return new Settings(values);
    }

    private static Path usable(Path folder) {
        if (Files.exists(folder) && !Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--out " + folder + ": expected a folder, found a file");
        }
        if (new ExistingRun(folder).exists()) {
            throw new IllegalArgumentException("--out " + folder
                    + ": expected the folder of a table or a new folder, found a single run; choose another one");
        }
        return folder;
    }

    /** Shows the rows of a run, and writes its table. */
    private record Session(Console console, TrainDisplay display, TableRun run, Path folder)
            implements TableRun.Listener {
        /** Returns why rows cannot be trained, what to know about the others, and how many there are. */
        private List<String> remarks() {
            Map<String, List<String>> failures = new LinkedHashMap<>();
            for (Entry entry : run.entries()) {
                entry.failure()
                        .ifPresent(cause -> failures.computeIfAbsent(reason(cause), _ -> new ArrayList<>())
                                .add(entry.title() + " on " + entry.data().name()));
            }
            List<String> remarks = new ArrayList<>();
            failures.forEach(
                    (reason, places) -> remarks.add(String.join("; ", places) + " cannot be trained: " + reason));
            remarks.addAll(run.table().remarks());
            remarks.add(rows(run.due().size()) + " to train");
            return remarks;
        }

        private static String rows(int count) {
            return count + (count == 1 ? " row" : " rows");
        }

        @Override
        public void begun(Entry entry) throws IOException {
            console.say(place(entry));
            display.row("row " + number(entry) + "/" + run.entries().size() + " "
                    + entry.row().name() + ", ");
            if (!new ExistingRun(entry.folder()).exists()) {
                new RunFolder(entry.folder()).begin(entry.data().place(), List.of());
            }
        }

        @Override
        public void ended(Entry entry) throws IOException {
            display.close();
            entry.failure().ifPresent(cause -> console.say(place(entry) + " failed: " + reason(cause)));
            if (entry.isFinished()) {
                RunResult result = new RunResult(entry.folds(), run.audit(entry.data()), Optional.empty());
                new TrainSummary(result, entry.folds().size(), new RunFolder(entry.folder())).write();
                console.say(place(entry) + ": test accuracy " + result.summary().text(Metric.ACCURACY) + " %"
                        + (run.due().isEmpty() ? "" : "; " + rows(run.due().size()) + " left"));
            }
            write();
        }

        private String place(Entry entry) {
            return "row " + number(entry) + " of " + run.entries().size() + ": " + entry.title() + " on "
                    + entry.data().name();
        }

        private int number(Entry entry) {
            return 1 + run.entries().stream().map(Entry::folder).toList().indexOf(entry.folder());
        }

        /** Writes the results so far in every format. */
        private TableReport write() throws IOException {
            Files.createDirectories(folder);
            TableReport report = new TableReport(run.table(), console.line(), Session::reason);
            for (Map.Entry<String, String> file : report.files().entrySet()) {
                AtomicFile.putText(folder.resolve(file.getKey()), text -> text.write(file.getValue()));
            }
            return report;
        }

        /** Returns the exit code of the failed rows if they agree, else that of an internal error. */
        private int code() {
            List<Integer> codes =
                    run.failures().stream().map(Failures::code).distinct().toList();
            if (!codes.isEmpty()) {
                return codes.size() == 1 ? codes.getFirst() : ExitCode.FAILED;
            }
            boolean readable = run.entries().stream()
                    .allMatch(entry -> run.audit(entry.data()).unreadable().isEmpty());
            return readable ? ExitCode.DONE : ExitCode.DATA;
        }

        private static String reason(Throwable cause) {
            return (cause instanceof MissingWeightsException ? "not installed: " : "") + Failures.message(cause);
        }

        private static String text(TableReport report) {
            StringBuilder text = new StringBuilder();
            boolean best = false;
            for (TableReport.Section section : report.sections()) {
                text.append(lines(List.of(section.title())))
                        .append(columns(section.rows()))
                        .append(System.lineSeparator());
                best |= section.rows().stream()
                        .flatMap(row -> row.stream().skip(1))
                        .anyMatch(cell -> cell.startsWith(TableReport.BEST));
            }
            return text
                    + (best ? lines(List.of(TableReport.BEST + ": best of the column")) : "")
                    + lines(report.notes());
        }

        private static String lines(List<String> lines) {
            return lines.stream()
                    .map(line -> QuotedText.visible(line) + System.lineSeparator())
                    .collect(Collectors.joining());
        }

        private static Columns columns(List<List<String>> rows) {
            Columns columns = new Columns();
            rows.forEach(columns::row);
            return columns;
        }

        /** Returns what would be trained, under names that options take. */
        private String planText() {
            List<List<String>> lines = new ArrayList<>();
            lines.add(List.of("row", "name", "dataset", "size", "params", "state"));
            for (Entry entry : run.entries()) {
                Optional<ResultTable.Size> size = entry.size();
                lines.add(List.of(
                        entry.title(),
                        entry.row().name(),
                        entry.data().name(),
                        size.map(one -> Figures.count(one.descriptor())).orElse("–"),
                        size.map(one -> Figures.count(one.parameters())).orElse("–"),
                        state(entry)));
            }
            return columns(lines) + lines(remarks());
        }

        private static String state(Entry entry) {
            if (entry.failure().isPresent()) {
                return "cannot be trained";
            }
            int done = entry.folds().size();
            return entry.isFinished()
                    ? "finished"
                    : done == 0 ? "to train" : done + " of " + entry.foldCount() + " folds";
        }
    }
}
