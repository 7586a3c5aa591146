package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.PlanText;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.run.ExistingRun;
import org.gramian.run.FoldResult;
import org.gramian.run.RunResult;
import org.gramian.run.plan.Estimate;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableEntry;
import org.gramian.run.table.TableRun;

/** Shows the progress of a table of methods, and writes its files after each row. */
final class TableDisplay implements TableRun.Listener {
    private final Console console;
    private final TrainDisplay training;
    private final TableFiles files;
    /** Estimates of the rows that are still to train, by folder. */
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
        left.remove(entry.folder());
        console.say(place(entry));
        training.row("row " + number(entry) + "/" + all() + " " + entry.row().name() + ", ");
        if (!new ExistingRun(entry.folder()).exists()) {
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
                console.say(place + ": test accuracy " + accuracy(finished) + " %"
                        + (left.isEmpty() ? "" : "; about " + PlanText.duration(sum(left.values())) + " left"));
            }
            case RowOutcome.Unfinished _ -> {}
            case RowOutcome.Failed failed -> console.say(place + " failed: " + TableText.reason(failed.cause()));
        }
        files.write();
    }

    /** Writes the summary of a row. */
    private void summarize(TableEntry entry, RowOutcome.Finished finished) throws IOException {
        RunResult result = new RunResult(finished.folds(), files.run().audit(entry.data()), Optional.empty());
        new TrainSummary(result, finished.folds().size(), new RunFolder(entry.folder())).write();
    }

    private static String accuracy(RowOutcome.Finished finished) {
        return FoldSummary.of(
                        finished.folds().stream().map(FoldResult::evaluation).toList())
                .text(Metric.ACCURACY);
    }
}
