package org.gramian.table;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.Metric;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.pooling.Pooling;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Settings.Setting;
import org.gramian.table.TableRun.Entry;

/** The numbers of a table, row by row, each row on all datasets. */
public record ResultTable(String baseline, List<Column> columns, List<Cell> cells, List<String> remarks) {
    public record Column(String name, String title, String fingerprint, int folds) {}

    public record Cell(
            Column column,
            String name,
            String title,
            Optional<Numbers> numbers,
            int done,
            Optional<Throwable> failure,
            Optional<Size> size,
            Optional<String> published) {}

    /**
     * Accuracy and paired test.
     *
     * @param afterFirst accuracy after stage 1, if fine-tuning followed
     * @param against paired test of this row against the baseline; empty for the baseline itself and while it is not finished
     * @param best whether no finished row on this dataset has a higher mean
     */
    public record Numbers(Spread accuracy, Optional<Spread> afterFirst, Optional<Comparison> against, boolean best) {}

    /** Length of the descriptor, and number of trained parameters of pooling and classifier. */
    public record Size(long descriptor, long parameters) {}

    static ResultTable of(TableRun.Plan plan, List<Entry> entries) {
        String baseline = plan.baseline().orElseGet(() -> baseline(plan, entries));
        Map<String, Column> columns = new LinkedHashMap<>();
        for (Entry entry : entries) {
            String name = entry.data().name();
            String shown = entry.data().paper().map(PaperData::title).orElse(name);
            String fingerprint =
                    entry.plan().map(found -> found.fingerprint().hex()).orElse("");
            Column column = new Column(name, shown, fingerprint, entry.foldCount());
            columns.merge(name, column, (one, other) -> one.folds() > 0 ? one : other);
        }
        List<Cell> cells = new ArrayList<>();
        for (Entry entry : entries) {
            cells.add(new Cell(
                    Objects.requireNonNull(columns.get(entry.data().name())),
                    entry.row().name(),
                    entry.title(),
                    numbers(entry, baseline, entries),
                    entry.folds().size(),
                    entry.failure(),
                    entry.size(),
                    entry.data().paper().flatMap(paper -> paper.figure(entry.row()))));
        }
        String title = entries.stream()
                .filter(entry -> entry.row().name().equals(baseline))
                .map(Entry::title)
                .findFirst()
                .orElse(baseline);
        return new ResultTable(title, List.copyOf(columns.values()), cells, remarks(plan, entries));
    }

    /** Returns the first row that is finished on the most datasets. */
    private static String baseline(TableRun.Plan plan, List<Entry> entries) {
        ToLongFunction<TableRow> finished = row -> entries.stream()
                .filter(entry -> entry.row().equals(row) && entry.isFinished())
                .count();
        return Collections.max(plan.rows(), Comparator.comparingLong(finished)).name();
    }

    private static Optional<Numbers> numbers(Entry entry, String baseline, List<Entry> entries) {
        if (!entry.isFinished()) {
            return Optional.empty();
        }
        requireFingerprint(entry);
        List<Entry> finished = entries.stream()
                .filter(other -> other.data().equals(entry.data()) && other.isFinished())
                .toList();
        Spread accuracy = accuracy(evaluations(entry));
        Optional<Comparison> against = finished.stream()
                .filter(other -> other.row().name().equals(baseline) && !other.equals(entry))
                .map(other -> Comparison.of(evaluations(entry), evaluations(other)))
                .findFirst();
        boolean best =
                finished.stream().allMatch(other -> accuracy(evaluations(other)).mean() <= accuracy.mean());
        List<Evaluation> first = entry.folds().stream()
                .flatMap(fold -> fold.afterFirst().stream())
                .toList();
        Optional<Spread> afterFirst =
                first.size() < entry.folds().size() ? Optional.empty() : Optional.of(accuracy(first));
        return Optional.of(new Numbers(accuracy, afterFirst, against, best));
    }

    /** Requires that all rows of a column use the same folds. */
    private static void requireFingerprint(Entry entry) {
        Fingerprint expected = entry.plan().orElseThrow().fingerprint();
        for (Evaluation evaluation : evaluations(entry)) {
            if (!evaluation.setting().fingerprint().equals(expected)) {
                throw new IllegalArgumentException(entry.folder() + ": expected results with the fingerprint "
                        + expected.brief() + ", found " + evaluation.setting());
            }
        }
    }

    private static List<Evaluation> evaluations(Entry entry) {
        return entry.folds().stream().map(FoldResult::evaluation).toList();
    }

    private static Spread accuracy(List<Evaluation> folds) {
        return Spread.of(folds.stream().map(Metric.ACCURACY::of).toList());
    }

    /** Returns whether any row was fine-tuned. */
    public boolean hasSecondStage() {
        return cells.stream()
                .flatMap(cell -> cell.numbers().stream())
                .anyMatch(numbers -> numbers.afterFirst().isPresent());
    }

    /** Returns the notes that are needed to read the numbers, each once for all rows that it applies to. */
    private static List<String> remarks(TableRun.Plan plan, List<Entry> entries) {
        Set<String> ignored = new LinkedHashSet<>();
        Set<String> solved = new LinkedHashSet<>();
        Set<String> random = new LinkedHashSet<>();
        for (Entry entry : entries) {
            if (entry.plan().isPresent()) {
                for (Setting setting : entry.row().refused(plan.common())) {
                    ignored.add(setting.key() + "=" + setting.text());
                    solved.add(entry.title());
                }
                if (hasRandomPooling(entry.plan().get())) {
                    random.add(entry.title());
                }
            }
        }
        List<String> remarks = new ArrayList<>();
        if (!ignored.isEmpty()) {
            remarks.add(String.join(" and ", ignored) + " has no effect on " + String.join("; ", solved)
                    + ": that classifier is fitted by a solver");
        }
        if (!random.isEmpty()) {
            remarks.add(
                    "the pooling has trainable parameters, which a classifier fitted by a solver leaves at their random"
                            + " initialization: " + String.join("; ", random));
        }
        return remarks;
    }

    private static boolean hasRandomPooling(RunPlan plan) {
        NetworkConfig network = plan.config().network();
        Pooling pooling = network.pooling().resolve(network.backbone(), Integer.MAX_VALUE);
        return plan.config().recipe().solver().isPresent()
                && pooling.parameters(network.backbone().channels()).stream()
                        .anyMatch(spec -> spec.role() != ParameterSpec.Role.FITTED
                                && !pooling.pretrained().containsKey(spec.name()));
    }
}
