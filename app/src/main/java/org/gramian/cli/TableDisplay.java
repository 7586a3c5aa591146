package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.run.BegunRun;
import org.gramian.run.FoldResult;
import org.gramian.run.RunResult;
import org.gramian.run.plan.Estimate;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableEntry;
import org.gramian.run.table.TableRun;

/** Shows a table as it grows: which row it is at, how long the rest may take, and all files anew after each row. */
final class TableDisplay implements TableRun.Listener {
    private static final Estimate NOTHING = new Estimate(Duration.ZERO, Duration.ZERO, Duration.ZERO);

    private final Console console;
    private final TrainDisplay training;
    private final TableFiles files;
    /** Of the rows that were not begun yet, by folder. */
    private final Map<Path, Estimate> left = new LinkedHashMap<>();

    /** @param estimates of every row that is to be trained */
    TableDisplay(Console console, TrainDisplay training, TableFiles files, Map<TableEntry, Estimate> estimates) {
        this.console = console;
        this.training = training;
        this.files = files;
        estimates.forEach((entry, estimate) -> left.put(entry.folder(), estimate));
    }

    @Override
    public void begun(TableEntry entry) throws IOException {
        Estimate estimate = Objects.requireNonNullElse(left.remove(entry.folder()), NOTHING);
        console.say(place(entry));
        training.row(
                "row " + number(entry) + "/" + all() + " " + entry.row().name() + ", ",
                estimate,
                entry.work().map(work -> work.plan().folds().size()).orElse(1),
                sum(left.values()));
        if (!new BegunRun(entry.folder()).exists()) {
            new RunFolder(entry.folder()).begin(entry.data().place());
        }
    }

    private String place(TableEntry entry) {
        return "row " + number(entry) + " of " + all() + ": " + entry.title() + " on "
                + entry.data().name();
    }

    private int number(TableEntry entry) {
        return 1
                + files.run().entries().stream()
                        .map(TableEntry::folder)
                        .toList()
                        .indexOf(entry.folder());
    }

    private int all() {
        return files.run().entries().size();
    }

    private static Duration sum(Collection<Estimate> estimates) {
        return estimates.stream()
                .map(estimate -> estimate.stage1().plus(estimate.stage2()))
                .reduce(Duration.ZERO, Duration::plus);
    }

    @Override
    public void ended(TableEntry entry) throws IOException {
        training.close();
        String place = place(entry);
        switch (entry.outcome()) {
            case RowOutcome.Finished finished -> {
                summarize(entry, finished);
                console.say(place + ": " + accuracy(finished) + " % of the test images are right"
                        + (left.isEmpty() ? "" : "; about " + PlanText.duration(sum(left.values())) + " to go"));
            }
            case RowOutcome.Waiting _ -> {}
            case RowOutcome.Failed failed ->
                console.say(place + " could not be trained: " + TableText.reason(failed.cause()));
        }
        files.write();
    }

    /** A row is a run like any other, with a summary and curves for people. */
    private void summarize(TableEntry entry, RowOutcome.Finished finished) throws IOException {
        RunResult result = new RunResult(finished.folds(), files.run().audit(entry.data()), Optional.empty());
        new TrainSummary(result, finished.folds().size(), new RunFolder(entry.folder())).write(console::say);
    }

    private static String accuracy(RowOutcome.Finished finished) {
        return FoldSummary.of(
                        finished.folds().stream().map(FoldResult::evaluation).toList())
                .text(Metric.ACCURACY);
    }
}
