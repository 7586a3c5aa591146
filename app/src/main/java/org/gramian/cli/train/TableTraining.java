package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.gramian.accelerate.Rule;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.TorchOptions;
import org.gramian.evaluate.Metric;
import org.gramian.image.dataset.Note;
import org.gramian.run.ExistingRun;
import org.gramian.run.RunResult;
import org.gramian.run.config.Settings;
import org.gramian.run.config.Settings.Setting;
import org.gramian.run.config.TrainConfig;
import org.gramian.table.ResultTable;
import org.gramian.table.TableReport;
import org.gramian.table.TableRun;
import org.gramian.table.TableRun.Entry;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;

/**
 * {@code gramian compare DIR --methods}: trains every row on the same folds and crops, writes the table after each row, and shows
 * it.
 */
final class TableTraining implements TableRun.Listener {
    private final Console console;
    private final TableOptions options;
    private final TrainOptions training;
    private final String command;
    private final TableRun run;
    private final Path folder;
    private final Device device;
    private final TrainDisplay display;

    /**
     * @param command as typed, which also resumes the table
     * @param cache feature cache; empty for a temporary one
     */
    TableTraining(
            Console console,
            TableOptions options,
            TrainOptions training,
            String command,
            List<Path> images,
            TorchOptions torch,
            Optional<Path> cache)
            throws IOException {
        this.console = console;
        this.options = options;
        this.training = training;
        this.command = command;
        options.format(); // rejects a wrong format before the work
        TableRun.Plan plan = options.plan(common(torch));
        plan.common().find(TrainConfig.ACCELERATE).ifPresent(Rule::use);
        List<TableRun.Data> data = TableRun.Data.open(images, plan.common().find(TrainConfig.LAYOUT));
        data.forEach(one -> one.dataset().notes().stream()
                .filter(note -> note.kind() != Note.Kind.EMPTY_CLASSES) // training rejects those
                .forEach(note -> console.say(one.name() + ": " + note.text())));
        folder = usable(options.out(data.stream().map(TableRun.Data::name).toList()));
        device = options.training().prepare(torch);
        run = new TableRun(plan, data, folder, training.store(), cache);
        display = new TrainDisplay(console);
    }

    /** Returns the given settings without the pooling, which is set per row. */
    private Settings common(TorchOptions torch) throws IOException {
        Settings requested = training.requested(torch, console::say).wanted();
        Map<String, Setting> values = new LinkedHashMap<>(requested.values());
        Setting pooling = values.remove("network.pooling");
        if (training.typed().contains("--pooling")) {
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

    /** Trains the table, or prints its plan with {@code --dry-run}. */
    int run() throws IOException, InterruptedException {
        try (display) {
            TrainingContext context = options.training().context(device, display, Cancellation.onRequest());
            return options.dry() ? show(context) : train(context);
        }
    }

    /** Prints the plan. There is nothing to save, so that Ctrl-C may end the process at once. */
    private int show(TrainingContext context) throws IOException, InterruptedException {
        run.prepare(context);
        console.out().print(planText());
        console.out().flush();
        return code();
    }

    private int train(TrainingContext context) throws IOException, InterruptedException {
        try (Interruption interruption = new Interruption(context.cancellation(), console::warn)) {
            run.prepare(context);
            announce(context);
            interruption.keeps(options.training().keepEvery());
            Optional<Cancellation.Reason> early = run.train(context, this);
            TableReport report = write();
            Optional<TableReport.Format> format = options.format();
            console.out().print(format.isPresent() ? report.render(format.get()) : text(report));
            console.out().flush();
            if (early.isPresent()) {
                console.warn("interrupted; resume with: " + command);
                return ExitCode.INTERRUPTED;
            }
            return code();
        } catch (InterruptedTrainingException _) {
            console.warn("interrupted before training began; start again with: " + command);
            return ExitCode.INTERRUPTED;
        }
    }

    private void announce(TrainingContext context) throws IOException {
        console.say("table folder: " + folder);
        context.cancellation().reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        remarks().forEach(console::say);
    }

    /** Returns why rows cannot be trained, what to know about the others, and how many there are. */
    private List<String> remarks() throws IOException {
        Map<String, List<String>> failures = new LinkedHashMap<>();
        for (Entry entry : run.entries()) {
            entry.failure()
                    .ifPresent(cause -> failures.computeIfAbsent(reason(cause), _ -> new ArrayList<>())
                            .add(entry.title() + " on " + entry.data().name()));
        }
        List<String> remarks = new ArrayList<>();
        failures.forEach((reason, places) -> remarks.add(String.join("; ", places) + " cannot be trained: " + reason));
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
            new RunFolder(entry.folder()).begin(entry.data().place());
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
        String machine = device + ", libtorch " + Libtorch.load().version();
        TableReport report = new TableReport(run.table(), command, machine, TableTraining::reason);
        for (TableReport.Format format : TableReport.Format.values()) {
            String text = report.render(format);
            AtomicFile.putText(folder.resolve(format.file()), file -> file.write(text));
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
            line(text, section.title());
            append(text, section.rows());
            line(text, "");
            best |= section.rows().stream()
                    .flatMap(row -> row.stream().skip(1))
                    .anyMatch(cell -> cell.startsWith(TableReport.BEST));
        }
        if (best) {
            line(text, TableReport.BEST + ": best of the column");
        }
        report.notes().forEach(note -> line(text, note));
        return text.toString();
    }

    private static void line(StringBuilder text, String line) {
        text.append(QuotedText.visible(line)).append(System.lineSeparator());
    }

    private static void append(StringBuilder text, List<List<String>> rows) {
        Columns columns = new Columns();
        rows.forEach(columns::row);
        columns.appendTo(text);
    }

    /** Returns what would be trained, under names that options take. */
    private String planText() throws IOException {
        List<List<String>> lines = new ArrayList<>();
        lines.add(List.of("row", "name", "dataset", "size", "params", "state"));
        for (Entry entry : run.entries()) {
            Optional<ResultTable.Size> size = ResultTable.Size.of(entry);
            lines.add(List.of(
                    entry.title(),
                    entry.row().name(),
                    entry.data().name(),
                    size.map(one -> grouped(one.descriptor())).orElse("–"),
                    size.map(one -> grouped(one.parameters())).orElse("–"),
                    state(entry)));
        }
        StringBuilder text = new StringBuilder();
        append(text, lines);
        remarks().forEach(remark -> line(text, remark));
        return text.toString();
    }

    private static String state(Entry entry) {
        if (entry.failure().isPresent()) {
            return "cannot be trained";
        }
        int done = entry.folds().size();
        return entry.isFinished() ? "finished" : done == 0 ? "to train" : done + " of " + entry.foldCount() + " folds";
    }

    private static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
