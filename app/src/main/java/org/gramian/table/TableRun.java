package org.gramian.table;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Evaluation;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.model.ModelFile;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.run.TrainingRun;
import org.gramian.run.UnfitDataException;
import org.gramian.run.Workload;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Settings;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;

/**
 * Trains all rows of a table on all its datasets, each as an ordinary run in its own folder, on the same folds and crops, with
 * features that are computed once. Finished rows are read, interrupted ones are resumed, and a failing row does not end the
 * others.
 */
public final class TableRun {
    public record Plan(List<TableRow> rows, Settings common, Optional<String> baseline) {
        public Plan {
            rows = List.copyOf(rows);
            if (rows.isEmpty()) {
                throw new IllegalArgumentException("expected at least one row, found none");
            }
            Map<String, String> folders = new HashMap<>();
            for (TableRow row : rows) {
                String other = folders.put(row.folder(), row.name());
                if (other != null) {
                    throw new IllegalArgumentException(
                            other.equals(row.name())
                                    ? "expected every row once, found " + QuotedText.text(other) + " twice"
                                    : "the rows " + QuotedText.text(other) + " and " + QuotedText.text(row.name())
                                            + " would share the folder " + QuotedText.text(row.folder())
                                            + "; give one of them another label, LABEL=" + row.pooling());
                }
            }
        }
    }

    /** A dataset, which is a column of the table. */
    public record Data(String name, Path place, Dataset dataset) {
        /** Opens datasets under the names of their folders; a repeated name gets a number. */
        public static List<Data> open(List<Path> places, Optional<String> layout) throws IOException {
            List<Data> all = new ArrayList<>();
            Map<String, Integer> seen = new HashMap<>();
            Set<Path> real = new HashSet<>();
            for (Path place : places) {
                if (!real.add(Files.exists(place) ? place.toRealPath() : place)) {
                    throw new IllegalArgumentException(
                            "expected every folder of images once, found " + place + " twice");
                }
                String last = String.valueOf(place.toAbsolutePath().normalize().getFileName());
                String folder = TableRow.folder(last.replaceFirst("\\.csv$", ""));
                String name = folder.isEmpty() ? "images" : folder;
                int number = seen.merge(name, 1, Integer::sum);
                all.add(new Data(number == 1 ? name : name + "-" + number, place, Layouts.open(place, layout)));
            }
            return all;
        }

        Optional<PaperData> paper() {
            return PaperData.of(dataset);
        }
    }

    /** One row on one dataset: an ordinary run. */
    public record Entry(
            Data data,
            TableRow row,
            String title,
            Path folder,
            Optional<RunPlan> plan,
            Optional<ResultTable.Size> size,
            List<FoldResult> folds,
            Optional<Throwable> failure) {
        public boolean isFinished() {
            return failure.isEmpty() && folds.size() == foldCount();
        }

        boolean isDue() {
            return !isFinished() && failure.isEmpty();
        }

        /** Returns the number of folds; 0 if planning failed. */
        public int foldCount() {
            return plan.map(some -> some.folds().size()).orElse(0);
        }

        List<Evaluation> evaluations() {
            return folds.stream().map(FoldResult::evaluation).toList();
        }

        private Entry with(List<FoldResult> done, Optional<Throwable> cause) {
            return new Entry(data, row, title, folder, plan, size, done, cause);
        }
    }

    private final Plan plan;
    private final List<Data> data;
    private final Path out;
    private final WeightStore weights;
    private final Optional<Path> cache;
    private final Map<Data, AuditReport> audits = new HashMap<>();
    private final List<Entry> entries = new ArrayList<>();

    /** @param out the folder of the table; row on dataset lies in {@code out/<dataset>/<row>} */
    public TableRun(Plan plan, List<Data> data, Path out, WeightStore weights, Optional<Path> cache) {
        this.plan = plan;
        this.data = List.copyOf(data);
        this.out = out;
        this.weights = weights;
        this.cache = cache;
    }

    /**
     * Audits all images, plans all rows and reads finished ones; writes nothing. A row with contradicting settings, or with
     * too few images for them, fails alone.
     */
    public void prepare(TrainingContext context) throws IOException, InterruptedException {
        entries.clear();
        for (Data one : data) {
            // Crops and folds do not depend on pooling and classifier, so that any will do to look at the images.
            Settings any = TableRow.withoutClassifier(plan.common());
            audits.put(one, trainer(one, any, cache, context).audit());
        }
        for (TableRow row : plan.rows()) {
            for (Data one : data) {
                entries.add(entry(row, one, context));
            }
        }
        requireSameWeights();
    }

    private Entry entry(TableRow row, Data one, TrainingContext context) throws IOException {
        Path folder = out.resolve(one.name()).resolve(row.folder());
        // Notes on the folds are the same for all rows.
        boolean first = entries.stream().noneMatch(entry -> entry.data().equals(one));
        TrainingContext planning = first ? context : context.withListener(_ -> {});
        try {
            TrainingRun trainer = trainer(one, row.requested(plan.common()), cache, planning);
            RunPlan planned = trainer.plan(audit(one));
            Workload load = trainer.workload(planned);
            return new Entry(
                    one,
                    row,
                    row.title(
                            plan.common(),
                            Optional.of(planned.config().network().backbone())),
                    folder,
                    Optional.of(planned),
                    Optional.of(new ResultTable.Size(load.descriptorSize(), load.trainedParameters())),
                    TrainingRun.kept(planned, folder),
                    Optional.empty());
        } catch (UnfitDataException unfit) {
            throw unfit; // the images are the same for all rows
        } catch (IllegalArgumentException incompatible) {
            String title = row.title(plan.common(), Optional.empty());
            return new Entry(
                    one, row, title, folder, Optional.empty(), Optional.empty(), List.of(), Optional.of(incompatible));
        }
    }

    private TrainingRun trainer(Data one, Settings requested, Optional<Path> features, TrainingContext context) {
        return new TrainingRun(one.dataset(), requested, weights, features, context);
    }

    public AuditReport audit(Data one) {
        return Objects.requireNonNull(audits.get(one), "call prepare first");
    }

    /** Returns every row on every dataset, row by row. */
    public List<Entry> entries() {
        return List.copyOf(entries);
    }

    public List<Entry> due() {
        return entries.stream().filter(Entry::isDue).toList();
    }

    public List<Throwable> failures() {
        return entries.stream().flatMap(entry -> entry.failure().stream()).toList();
    }

    /**
     * Trains a row that is due; the result replaces it in {@link #entries}. It is still due if it was interrupted.
     *
     * @param features folder of the features that rows share
     */
    public Entry train(Entry due, Path features, TrainingContext context) throws IOException {
        Entry trained = trained(due, features, context);
        entries.replaceAll(entry -> entry.folder().equals(due.folder()) ? trained : entry);
        requireSameWeights();
        return trained;
    }

    private Entry trained(Entry entry, Path features, TrainingContext context) {
        try {
            RunPlan planned = entry.plan().orElseThrow();
            try {
                trainer(entry.data(), entry.row().requested(plan.common()), Optional.of(features), context)
                        .train(planned, audit(entry.data()), entry.folder());
            } catch (InterruptedTrainingException _) {
                // the finished folds are kept
            }
            return entry.with(TrainingRun.kept(planned, entry.folder()), Optional.empty());
        } catch (IOException | RuntimeException | OutOfMemoryError failed) {
            return entry.with(entry.folds(), Optional.of(failed));
        }
    }

    /**
     * Returns the results so far.
     *
     * @param wording says why a row failed
     */
    public ResultTable table(Function<Throwable, String> wording) {
        return ResultTable.of(plan, entries, wording);
    }

    /** Requires that all rows on one backbone use the same weights: the file may have changed between two rows. */
    private void requireSameWeights() throws IOException {
        record Network(Backbone backbone, Optional<String> weights) {}
        Map<Network, String> fingerprints = new HashMap<>();
        for (Entry entry : entries.stream().filter(Entry::isFinished).toList()) {
            NetworkConfig config = entry.plan().orElseThrow().config().network();
            for (FoldResult fold : entry.folds()) {
                String found = String.valueOf(
                        ModelFile.header(fold.model()).card().origin().get("weights"));
                String first = fingerprints.putIfAbsent(new Network(config.backbone(), config.weights()), found);
                if (first != null && !first.equals(found)) {
                    throw new IOException("expected all rows on the same weights of " + config.backbone() + ", found "
                            + entry.folder() + " on others than rows before it; use another table folder, or remove the"
                            + " rows with the old weights");
                }
            }
        }
    }
}
