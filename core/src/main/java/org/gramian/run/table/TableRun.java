package org.gramian.run.table;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.audit.AuditReport;
import org.gramian.model.ModelFile;
import org.gramian.run.FoldPlan;
import org.gramian.run.FoldResult;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult;
import org.gramian.run.RunScratch;
import org.gramian.run.TrainingRun;
import org.gramian.run.UnfitDataException;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Settings;
import org.gramian.run.plan.Estimate;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;

/**
 * Trains all rows of a table on all its datasets, each as an ordinary run in its own folder, on the same folds and crops, with
 * features that are computed once. Finished rows are read, interrupted ones are resumed, and a failing row does not end the
 * others.
 */
public final class TableRun {
    /** Listens to the start and end of rows. */
    public interface Listener {
        /** Called before a row is trained. */
        void begun(TableEntry entry) throws IOException;

        /** Called when a row is finished, interrupted or failed. */
        void ended(TableEntry entry) throws IOException;
    }

    private final TablePlan plan;
    private final List<TableData> data;
    private final Path out;
    private final WeightStore weights;
    private final Optional<Path> cache;
    private final Map<TableData, AuditReport> audits = new HashMap<>();
    private final List<TableEntry> entries = new ArrayList<>();

    /** @param out the folder of the table; row on dataset lies in {@code out/<dataset>/<row>} */
    public TableRun(TablePlan plan, List<TableData> data, Path out, WeightStore weights, Optional<Path> cache) {
        this.plan = plan;
        this.data = List.copyOf(data);
        this.out = out;
        this.weights = weights;
        this.cache = cache;
    }

    /**
     * Audits all images, plans all rows and reads finished ones; writes nothing. A row with contradicting settings, or with
     * too few images for them, fails alone.
     *
     * @throws UnfitDataException if the images do not suit the settings
     * @throws IOException naming what differs, if a row was begun with another configuration or other images
     * @throws InterruptedTrainingException if interrupted
     */
    public void prepare(TrainingContext context) throws IOException, InterruptedException {
        entries.clear();
        for (TableData one : data) {
            // Crops and folds do not depend on pooling and classifier, so that any will do to look at the images.
            audits.put(
                    one,
                    trainer(one, TableRow.withoutClassifier(plan.common()), context)
                            .audit());
        }
        for (TableRow row : plan.rows()) {
            for (TableData one : data) {
                entries.add(entry(row, one, context));
            }
        }
        requireSameWeights(entries);
    }

    private TableEntry entry(TableRow row, TableData one, TrainingContext context) throws IOException {
        Path folder = out.resolve(one.name()).resolve(row.folder());
        RunPlan planned;
        try {
            planned = plan(row, one, context);
        } catch (UnfitDataException unfit) {
            throw unfit; // the images are the same for all rows
        } catch (IllegalArgumentException misfit) {
            String title = row.titled(row.title(), plan.common());
            return new TableEntry(one, row, title, folder, Optional.empty(), new RowOutcome.Failed(misfit));
        }
        List<FoldResult> kept = TrainingRun.kept(planned, folder);
        int all = planned.folds().size();
        return new TableEntry(
                one,
                row,
                row.titled(TablePreset.title(row, planned.config().network().backbone()), plan.common()),
                folder,
                Optional.of(new TableEntry.Work(
                        planned, trainer(one, plan.common(), context).workload(planned))),
                kept.size() == all ? new RowOutcome.Finished(kept) : new RowOutcome.Unfinished(kept.size(), all));
    }

    /** Reports notes on the folds for the first row: they are the same for all. */
    private RunPlan plan(TableRow row, TableData one, TrainingContext context) throws IOException {
        boolean first = entries.stream().noneMatch(entry -> entry.data().equals(one));
        TrainingContext planning = first ? context : context.withListener(_ -> {});
        return trainer(one, row.requested(plan.common()), planning).plan(audit(one));
    }

    private TrainingRun trainer(TableData one, Settings requested, TrainingContext context) {
        return new TrainingRun(one.dataset(), requested, weights, cache, context);
    }

    /** Returns the audit of a dataset. */
    public AuditReport audit(TableData one) {
        return Objects.requireNonNull(audits.get(one), "call prepare first");
    }

    /** Returns the audit of each dataset. */
    public List<AuditReport> audits() {
        return data.stream().map(this::audit).toList();
    }

    /** Returns every row on every dataset, row by row. */
    public List<TableEntry> entries() {
        return List.copyOf(entries);
    }

    /** Returns the entries to train. */
    public List<TableEntry> due() {
        return entries.stream().filter(this::isDue).toList();
    }

    /** Returns the failures of entries that cannot be trained. */
    public List<Throwable> failures() {
        return entries.stream()
                .filter(entry -> plan.only().contains(entry.row().name()))
                .flatMap(entry ->
                        entry.outcome() instanceof RowOutcome.Failed(Throwable cause) ? Stream.of(cause) : Stream.of())
                .toList();
    }

    private boolean isDue(TableEntry entry) {
        return plan.only().contains(entry.row().name()) && entry.outcome() instanceof RowOutcome.Unfinished;
    }

    /**
     * How long the folds of an entry that are left may take, features included; takes seconds.
     *
     * @return nothing where that shows that the row cannot be trained; it counts as failed then
     */
    public Optional<Estimate> estimate(TableEntry entry, TrainingContext context) {
        try {
            RunPlan whole = entry.work().orElseThrow().plan();
            List<FoldResult> kept = TrainingRun.kept(whole, entry.folder());
            RunPlan rest = whole.only(whole.folds().stream()
                    .map(FoldPlan::name)
                    .filter(name -> kept.stream()
                            .noneMatch(
                                    fold -> fold.evaluation().setting().fold().equals(name)))
                    .toList());
            return Optional.of(trainer(entry.data(), plan.common(), context.withListener(_ -> {}))
                    .estimate(rest));
        } catch (IOException | RuntimeException | OutOfMemoryError failed) {
            entries.set(entries.indexOf(entry), entry.with(new RowOutcome.Failed(failed)));
            return Optional.empty();
        }
    }

    /**
     * Trains all entries that are due.
     *
     * @param context listener and cancellation; an interrupt ends the table after the current step
     * @return why training ended early; empty if it is complete
     * @throws IOException if rows use different weights
     */
    public Optional<Cancellation.Reason> train(TrainingContext context, Listener listener) throws IOException {
        Files.createDirectories(out);
        try (RunScratch scratch = RunScratch.in(out, cache)) {
            for (int i = 0; i < entries.size(); i++) {
                if (isDue(entries.get(i))) {
                    if (context.cancellation().reason().isPresent()) {
                        return context.cancellation().reason();
                    }
                    listener.begun(entries.get(i));
                    entries.set(i, entries.get(i).with(outcome(entries.get(i), scratch, context)));
                    listener.ended(entries.get(i));
                    requireSameWeights(entries);
                    if (entries.get(i).outcome() instanceof RowOutcome.Unfinished) {
                        return Optional.of(context.cancellation().reason().orElse(Cancellation.Reason.CANCELLED));
                    }
                }
            }
        }
        return Optional.empty();
    }

    private RowOutcome outcome(TableEntry entry, RunScratch scratch, TrainingContext context) {
        try {
            return trained(entry, scratch, context);
        } catch (IOException | RuntimeException | OutOfMemoryError failed) {
            return new RowOutcome.Failed(failed);
        }
    }

    private RowOutcome trained(TableEntry entry, RunScratch scratch, TrainingContext context) throws IOException {
        RunPlan planned = entry.work().orElseThrow().plan();
        EpochTimes times = EpochTimes.open(entry.folder());
        TrainingRun trainer = new TrainingRun(
                entry.data().dataset(),
                entry.row().requested(plan.common()),
                weights,
                Optional.of(scratch.cache()),
                context.withListener(event -> {
                    times.accept(event);
                    context.listener().accept(event);
                }));
        try {
            RunResult result = trainer.train(planned, audit(entry.data()), entry.folder());
            return result.early().isPresent()
                    ? unfinished(planned, entry.folder())
                    : new RowOutcome.Finished(result.folds());
        } catch (InterruptedTrainingException _) {
            return unfinished(planned, entry.folder());
        }
    }

    private static RowOutcome.Unfinished unfinished(RunPlan planned, Path folder) throws IOException {
        return new RowOutcome.Unfinished(
                TrainingRun.kept(planned, folder).size(), planned.folds().size());
    }

    /** Returns the results so far. */
    public ResultTable table() throws IOException {
        return ResultTable.of(plan, data, entries);
    }

    private record RowWeights(String fingerprint, TableEntry entry) {}

    /**
     * Requires that all rows on one backbone use the same weights: the file may have changed between two rows.
     *
     * @throws IOException naming two finished rows with different weights
     */
    private static void requireSameWeights(List<TableEntry> entries) throws IOException {
        Map<String, RowWeights> byNetwork = new HashMap<>();
        for (TableEntry entry : entries) {
            if (entry.outcome() instanceof RowOutcome.Finished finished
                    && entry.work().isPresent()) {
                String network = network(entry.work().get());
                for (FoldResult fold : finished.folds()) {
                    RowWeights found = new RowWeights(fingerprint(fold), entry);
                    RowWeights first = byNetwork.putIfAbsent(network, found);
                    if (first != null && !first.fingerprint.equals(found.fingerprint)) {
                        throw new IOException(
                                "expected all rows on the same weights of " + network + ", found "
                                        + first.entry.folder() + " and " + entry.folder()
                                        + " on different ones; use another table folder, or remove the rows with the old weights");
                    }
                }
            }
        }
    }

    private static String network(TableEntry.Work work) {
        NetworkConfig network = work.plan().config().network();
        return network.backbone() + network.weights().map(name -> ", " + name).orElse("");
    }

    private static String fingerprint(FoldResult fold) throws IOException {
        return Optional.ofNullable(
                        ModelFile.header(fold.model()).card().origin().get("weights"))
                .orElse("none");
    }
}
