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
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.image.dataset.Note;
import org.gramian.report.Figures;
import org.gramian.run.ExistingRun;
import org.gramian.run.RunResult;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.table.ResultTable;
import org.gramian.table.TablePreset;
import org.gramian.table.TableRow;
import org.gramian.table.TableRun;
import org.gramian.table.TableRun.Entry;
import org.gramian.tensor.Device;
import org.gramian.train.feature.FeatureCache;
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

    @Option(names = "--dry-run", description = "show rows and sizes; do not train")
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
                session.print();
                return session.code();
            }
            try (Interruption interruption = new Interruption(running.cancellation(), console::warn)) {
                run.prepare(running);
                console.say("table folder: " + folder);
                running.throwIfCancelled();
                session.announce();
                interruption.keeps(context.keepEvery());
                Files.createDirectories(folder);
                try (FeatureCache features = FeatureCache.open(cache, folder, _ -> {})) {
                    for (Entry entry : run.due()) {
                        if (running.cancellation().reason().isEmpty()) {
                            session.train(entry, features.folder(), running);
                        }
                    }
                }
                session.write();
                session.print();
                if (!run.due().isEmpty()) {
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
    private record Session(Console console, TrainDisplay display, TableRun run, Path folder) {
        private ResultTable table() {
            return run.table(Session::reason);
        }

        /** Says which rows cannot be trained, what to know about the others, and how many there are. */
        private void announce() {
            for (Entry entry : run.entries()) {
                entry.failure().ifPresent(cause -> console.say(place(entry) + " cannot be trained: " + reason(cause)));
            }
            table().remarks().forEach(console::say);
            console.say(Figures.count(run.due().size(), "row") + " to train");
        }

        private void train(Entry due, Path features, TrainingContext running) throws IOException {
            console.say(place(due));
            display.row("row " + number(due) + "/" + run.entries().size() + " "
                    + due.row().name() + ", ");
            if (!new ExistingRun(due.folder()).exists()) {
                new RunFolder(due.folder()).begin(due.data().place(), List.of());
            }
            Entry entry = run.train(due, features, running);
            display.close();
            entry.failure().ifPresent(cause -> console.say(place(entry) + " failed: " + reason(cause)));
            if (entry.isFinished()) {
                RunResult result = new RunResult(entry.folds(), run.audit(entry.data()), Optional.empty());
                new TrainSummary(result, entry.folds().size(), new RunFolder(entry.folder())).write();
                console.say(place(entry) + ": test accuracy " + result.summary().text(Metric.ACCURACY) + " %; "
                        + Figures.count(run.due().size(), "row") + " left");
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
        private void write() throws IOException {
            for (Map.Entry<String, String> file : table().files(console.line()).entrySet()) {
                AtomicFile.putText(folder.resolve(file.getKey()), text -> text.write(file.getValue()));
            }
        }

        private void print() {
            ResultTable table = table();
            StringBuilder text = new StringBuilder();
            for (ResultTable.Section section : table.sections()) {
                Columns columns = new Columns();
                section.rows().forEach(columns::row);
                text.append(QuotedText.visible(section.title()))
                        .append(System.lineSeparator())
                        .append(columns)
                        .append(System.lineSeparator());
            }
            text.append(ResultTable.BEST + ": best of the column").append(System.lineSeparator());
            table.notes().forEach(note -> text.append(QuotedText.visible(note)).append(System.lineSeparator()));
            console.print(text.toString());
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
    }
}
