package org.gramian.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.Metric;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.pooling.Pooling;
import org.gramian.run.FoldResult;
import org.gramian.run.RunPlan;
import org.gramian.run.config.ConfigKey;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Settings.Setting;
import org.gramian.table.TableRun.Entry;

/**
 * The numbers of a table: method by dataset.
 *
 * @param baseline title of the row that the others are tested against
 * @param common settings by key that all runs share
 */
public record ResultTable(
        String baseline, List<Column> columns, List<Line> lines, Map<String, String> common, List<String> remarks) {
    /**
     * A dataset.
     *
     * @param fingerprint of images, labels and folds, shared by all its results; empty if no row could be planned
     */
    public record Column(String name, String title, String fingerprint, int folds) {}

    /** A row, with a cell for every column. */
    public record Line(String name, String title, List<Cell> cells) {}

    /**
     * Results of one row on one dataset.
     *
     * @param own settings by key that not all runs share
     */
    public record Cell(
            Optional<Numbers> numbers,
            int done,
            Optional<Throwable> failure,
            Optional<Size> size,
            OptionalDouble secondsPerEpoch,
            Optional<String> published,
            Map<String, String> own) {}

    /**
     * Accuracy and paired test.
     *
     * @param accuracy over the folds, at the end of training
     * @param afterFirst accuracy after stage 1, if fine-tuning followed
     * @param against paired test of this row against the baseline; empty for the baseline itself and while it is not finished
     * @param best whether no finished row on this dataset has a higher mean
     */
    public record Numbers(Spread accuracy, Optional<Spread> afterFirst, Optional<Comparison> against, boolean best) {}

    /** Length of the descriptor, and number of trained parameters of pooling and classifier. */
    public record Size(long descriptor, long parameters) {
        public static Optional<Size> of(Entry entry) {
            return entry.work()
                    .map(Entry.Work::load)
                    .map(load -> new Size(load.descriptorSize(), load.trainedParameters()));
        }
    }

    /** @param entries row by row, each row on all datasets in their order */
    static ResultTable of(TableRun.Plan plan, List<TableRun.Data> data, List<Entry> entries) throws IOException {
        String baseline = plan.baseline().orElseGet(() -> baseline(plan, entries));
        List<Map<String, String>> settings = entries.stream()
                .map(entry -> entry.work().map(work -> texts(work.plan())).orElse(Map.of()))
                .toList();
        Map<String, String> common = shared(settings);
        List<Column> columns = new ArrayList<>();
        for (TableRun.Data one : data) {
            Optional<RunPlan> planned = entries.stream()
                    .filter(entry -> entry.data().equals(one))
                    .flatMap(entry -> entry.work().stream())
                    .map(Entry.Work::plan)
                    .findFirst();
            columns.add(new Column(
                    one.name(),
                    one.paper().map(PaperData::title).orElse(one.name()),
                    planned.map(some -> some.fingerprint().hex()).orElse(""),
                    planned.map(some -> some.folds().size()).orElse(0)));
        }
        List<Line> lines = new ArrayList<>();
        String title = baseline;
        for (int from = 0; from < entries.size(); from += data.size()) {
            List<Cell> cells = new ArrayList<>();
            for (int i = 0; i < data.size(); i++) {
                Entry entry = entries.get(from + i);
                Map<String, String> own = new LinkedHashMap<>(settings.get(from + i));
                own.keySet().removeAll(common.keySet());
                cells.add(new Cell(
                        numbers(entry, baseline, entries),
                        entry.folds().size(),
                        entry.failure(),
                        Size.of(entry),
                        EpochTimes.open(entry.folder()).perEpoch(),
                        entry.data().paper().flatMap(paper -> paper.figure(entry.row())),
                        own));
            }
            Entry first = entries.get(from);
            title = first.row().name().equals(baseline) ? first.title() : title;
            lines.add(new Line(first.row().name(), first.title(), cells));
        }
        return new ResultTable(title, columns, lines, common, remarks(plan, baseline, entries));
    }

    /** Returns the first row that is finished on all datasets, else on one, else the first row. */
    private static String baseline(TableRun.Plan plan, List<Entry> entries) {
        Predicate<TableRow> onAll =
                row -> entries.stream().filter(entry -> entry.row().equals(row)).allMatch(Entry::isFinished);
        Predicate<TableRow> onOne =
                row -> entries.stream().anyMatch(entry -> entry.row().equals(row) && entry.isFinished());
        return Stream.of(onAll, onOne)
                .flatMap(wanted -> plan.rows().stream().filter(wanted))
                .findFirst()
                .orElse(plan.rows().getFirst())
                .name();
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
        Fingerprint expected = entry.work().orElseThrow().plan().fingerprint();
        for (Evaluation evaluation : evaluations(entry)) {
            if (!evaluation.setting().fingerprint().equals(expected)) {
                throw new IllegalStateException(entry.folder() + ": expected results with the fingerprint "
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
        return cells().flatMap(cell -> cell.numbers().stream())
                .anyMatch(numbers -> numbers.afterFirst().isPresent());
    }

    Stream<Cell> cells() {
        return lines.stream().flatMap(line -> line.cells().stream());
    }

    /** Returns the settings that change the numbers; weights without their folder, which means nothing on another machine. */
    private static Map<String, String> texts(RunPlan plan) {
        Map<String, String> texts = new LinkedHashMap<>();
        for (Setting setting : plan.settings().values().values()) {
            if (!ConfigKey.isOutput(setting.key())) {
                boolean weights = setting.key().equals("network.weights");
                texts.put(
                        setting.key(),
                        weights ? String.valueOf(Path.of(setting.text()).getFileName()) : setting.text());
            }
        }
        return texts;
    }

    private static Map<String, String> shared(List<Map<String, String>> settings) {
        List<Map<String, String>> planned =
                settings.stream().filter(one -> !one.isEmpty()).toList();
        Map<String, String> same = new LinkedHashMap<>(planned.isEmpty() ? Map.of() : planned.getFirst());
        planned.forEach(other -> same.entrySet().retainAll(other.entrySet()));
        return same;
    }

    /** Returns the notes that are needed to read the numbers, each once for all rows that it applies to. */
    private static List<String> remarks(TableRun.Plan plan, String baseline, List<Entry> entries) {
        Set<String> ignored = new LinkedHashSet<>();
        Set<String> solved = new LinkedHashSet<>();
        Set<String> random = new LinkedHashSet<>();
        List<String> untested = new ArrayList<>();
        for (Entry entry : entries) {
            if (entry.work().isPresent()) {
                for (Setting setting : entry.row().refused(plan.common())) {
                    ignored.add(setting.key() + "=" + setting.text());
                    solved.add(entry.title());
                }
                if (hasRandomPooling(entry.work().get().plan())) {
                    random.add(entry.title());
                }
            }
            if (entry.row().name().equals(baseline)
                    && !entry.isFinished()
                    && entries.stream().anyMatch(other -> other.data().equals(entry.data()) && other.isFinished())) {
                untested.add("no differences and no p on " + entry.data().name() + ": the baseline " + entry.title()
                        + " is not trained");
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
        remarks.addAll(untested);
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
