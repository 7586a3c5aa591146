package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.PlanText;
import org.gramian.cli.common.TorchOptions;
import org.gramian.image.dataset.Note;
import org.gramian.report.table.TableFormat;
import org.gramian.report.table.TableReport;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Setting;
import org.gramian.run.config.Settings;
import org.gramian.run.plan.Estimate;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableData;
import org.gramian.run.table.TableEntry;
import org.gramian.run.table.TablePlan;
import org.gramian.run.table.TableRun;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;

/** {@code gramian compare DIR --methods}: trains every row on the same folds and crops, and shows the table. */
final class TableTraining {
    private final Console console;
    private final TableOptions options;
    private final TrainOptions training;
    private final String command;

    /** @param command as typed, which also resumes the table */
    TableTraining(Console console, TableOptions options, TrainOptions training, String command) {
        this.console = console;
        this.options = options;
        this.training = training;
        this.command = command;
    }

    /**
     * Trains the table.
     *
     * @param cache feature cache; empty for a temporary one
     */
    int run(List<Path> images, TorchOptions torch, Optional<Path> cache) throws IOException, InterruptedException {
        options.form(); // rejects a wrong format before the work
        TablePlan plan = options.plan(common());
        List<TableData> data = TableData.open(images, plan.common().find(Keys.LAYOUT));
        data.forEach(one -> one.dataset().notes().stream()
                .filter(note -> note.kind() != Note.Kind.EMPTY_CLASSES) // training rejects those
                .forEach(note -> console.say(one.name() + ": " + note.text())));
        Path folder = TableFiles.requireUsable(
                options.out(data.stream().map(TableData::name).toList()));
        Device device = options.training().prepare(torch);
        TableRun run = new TableRun(plan, data, folder, training.store(), cache);
        TableFiles files = new TableFiles(
                run, folder, table -> new TableReport(table, command, machine(device), TableText::reason));
        try (TrainDisplay display = new TrainDisplay(console)) {
            TrainingContext context = options.training().context(device, display, Cancellation.onRequest());
            return options.dry() ? show(run, context) : train(files, display, context);
        }
    }

    /** Prints the plan. There is nothing to save, so that Ctrl-C may end the process at once. */
    private int show(TableRun run, TrainingContext context) throws IOException, InterruptedException {
        run.prepare(context);
        Map<TableEntry, Estimate> estimates = estimates(run, context);
        console.out().print(TableText.plan(run.entries(), estimates, run.table().remarks()));
        console.out().flush();
        return code(run);
    }

    private int train(TableFiles files, TrainDisplay display, TrainingContext context)
            throws IOException, InterruptedException {
        try (Interruption interruption = new Interruption(context.cancellation(), console::warn)) {
            files.run().prepare(context);
            TableDisplay shown = new TableDisplay(console, display, files, announced(files, context));
            interruption.keeps(options.training().keepEvery());
            Optional<Cancellation.Reason> early = files.run().train(context, shown);
            files.write();
            return ended(files, early);
        } catch (InterruptedTrainingException _) {
            console.warn("interrupted before training began; start again with: " + command);
            return ExitCode.INTERRUPTED;
        }
    }

    /** Returns the given settings without the pooling, which is set per row. */
    private Settings common() throws IOException {
        Settings requested = training.requested(console::say).wanted();
        Map<String, Setting> values = new LinkedHashMap<>(requested.values());
        Setting pooling = values.remove(Keys.POOLING.name());
        if (training.typed().contains("--pooling")) {
            throw new IllegalArgumentException(
                    "--pooling: every row of a table has its own pooling; add a row with --methods LABEL="
                            + (pooling == null ? "SPEC" : pooling.text()));
        }
        if (pooling != null) {
            console.say(Keys.POOLING + " " + pooling.text() + " (" + pooling.origin()
                    + ") is ignored: every row of a table has its own pooling");
        }
        return new Settings(values);
    }

    private Map<TableEntry, Estimate> announced(TableFiles files, TrainingContext context) throws IOException {
        TableRun run = files.run();
        console.say("table folder: " + files.folder());
        if (!run.due().isEmpty()) {
            console.say("estimating the training time of each row");
        }
        Map<TableEntry, Estimate> estimates = estimates(run, context);
        context.cancellation().reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        for (TableEntry entry : run.entries()) {
            if (entry.outcome() instanceof RowOutcome.Failed failed) {
                console.say(entry.title() + " on " + entry.data().name() + " cannot be trained: "
                        + TableText.reason(failed.cause()));
            }
        }
        run.table().remarks().forEach(console::say);
        if (!estimates.isEmpty()) {
            console.say(estimates.size() + (estimates.size() == 1 ? " row" : " rows") + " to train, about "
                    + PlanText.duration(TableText.total(estimates))
                    + " if all epochs are needed (estimated from one batch each)");
        }
        return estimates;
    }

    private static Map<TableEntry, Estimate> estimates(TableRun run, TrainingContext context) {
        Map<TableEntry, Estimate> estimates = new LinkedHashMap<>();
        for (TableEntry entry : run.due()) {
            if (context.cancellation().reason().isEmpty()) {
                run.estimate(entry, context).ifPresent(estimate -> estimates.put(entry, estimate));
            }
        }
        return estimates;
    }

    private static String machine(Device device) {
        return device + ", libtorch " + Libtorch.load().version();
    }

    private int ended(TableFiles files, Optional<Cancellation.Reason> early) throws IOException {
        TableReport report = files.report();
        Optional<TableFormat> form = options.form();
        console.out().print(form.isPresent() ? form.get().render(report) : TableText.of(report));
        console.out().flush();
        if (early.isPresent()) {
            console.warn("interrupted; resume with: " + command);
            return ExitCode.INTERRUPTED;
        }
        return code(files.run());
    }

    /** Returns the exit code of the failed rows if they agree, else that of an internal error. */
    private static int code(TableRun run) {
        List<Integer> codes =
                run.failures().stream().map(Failures::code).distinct().toList();
        if (!codes.isEmpty()) {
            return codes.size() == 1 ? codes.getFirst() : ExitCode.FAILED;
        }
        return run.audits().stream().allMatch(audit -> audit.unreadable().isEmpty()) ? ExitCode.DONE : ExitCode.DATA;
    }
}
