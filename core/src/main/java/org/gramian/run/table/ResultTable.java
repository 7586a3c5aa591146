package org.gramian.run.table;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.Metric;
import org.gramian.pooling.Pooling;
import org.gramian.run.FoldResult;
import org.gramian.run.config.Keys;
import org.gramian.run.config.NetworkConfig;
import org.gramian.run.config.Setting;

/**
 * The numbers of a table: method by dataset.
 *
 * @param baseline title of the row that the others are tested against
 * @param columns the datasets
 * @param lines the rows, with a cell for every column
 * @param common settings by key that all rows have on all datasets
 * @param remarks notes on rows
 */
public record ResultTable(
        String baseline, List<Column> columns, List<Line> lines, Map<String, String> common, List<String> remarks) {
    public ResultTable {
        remarks = List.copyOf(remarks);
        columns = List.copyOf(columns);
        lines = List.copyOf(lines);
        common = Collections.unmodifiableMap(new LinkedHashMap<>(common));
    }

    /**
     * A dataset.
     *
     * @param name of its folder
     * @param title its title
     * @param fingerprint of images, labels and folds, shared by all its results; empty if no row could be planned
     * @param folds number of folds
     * @param settings by key that all rows have on it, but not on all datasets
     */
    public record Column(String name, String title, String fingerprint, int folds, Map<String, String> settings) {
        public Column {
            settings = Collections.unmodifiableMap(new LinkedHashMap<>(settings));
        }
    }

    /**
     * A row.
     *
     * @param name in options and folders
     * @param title in the table
     * @param cells one for every column
     */
    public record Line(String name, String title, List<TableCell> cells) {
        public Line {
            cells = List.copyOf(cells);
        }
    }

    /** @param entries row by row, each row on all datasets in their order */
    static ResultTable of(TablePlan plan, List<TableData> data, List<TableEntry> entries) throws IOException {
        String baseline = plan.baseline().orElseGet(() -> baseline(plan, entries));
        SharedSettings settings = SharedSettings.of(entries);
        List<Column> columns = new ArrayList<>();
        for (TableData one : data) {
            columns.add(column(one, entries, settings));
        }
        List<Line> lines = new ArrayList<>();
        for (int from = 0; from < entries.size(); from += data.size()) {
            List<TableCell> cells = new ArrayList<>();
            for (TableEntry entry : entries.subList(from, from + data.size())) {
                cells.add(cell(entry, baseline, entries, settings));
            }
            lines.add(new Line(entries.get(from).row().name(), entries.get(from).title(), cells));
        }
        String title = lines.stream()
                .filter(line -> line.name().equals(baseline))
                .map(Line::title)
                .findFirst()
                .orElse(baseline);
        return new ResultTable(title, columns, lines, settings.common(), Remarks.of(plan, baseline, entries));
    }

    /** Returns the first row that is finished on all datasets, else on one, else the first row. */
    private static String baseline(TablePlan plan, List<TableEntry> entries) {
        Map<Boolean, List<String>> finished = new LinkedHashMap<>();
        for (TableRow row : plan.rows()) {
            List<TableEntry> own =
                    entries.stream().filter(entry -> entry.row().equals(row)).toList();
            long done = own.stream()
                    .filter(entry -> entry.outcome() instanceof RowOutcome.Finished)
                    .count();
            if (done > 0) {
                finished.computeIfAbsent(done == own.size(), _ -> new ArrayList<>())
                        .add(row.name());
            }
        }
        List<String> some = finished.getOrDefault(true, finished.getOrDefault(false, List.of()));
        return some.isEmpty() ? plan.rows().getFirst().name() : some.getFirst();
    }

    private static Column column(TableData one, List<TableEntry> entries, SharedSettings settings) {
        Optional<TableEntry.Work> work = entries.stream()
                .filter(entry -> entry.data().equals(one))
                .flatMap(entry -> entry.work().stream())
                .findFirst();
        return new Column(
                one.name(),
                one.paper().map(PaperData::title).orElse(one.name()),
                work.map(some -> some.plan().fingerprint().hex()).orElse(""),
                work.map(some -> some.plan().folds().size()).orElse(0),
                settings.of(one));
    }

    private static TableCell cell(TableEntry entry, String baseline, List<TableEntry> entries, SharedSettings settings)
            throws IOException {
        List<TableEntry> column = entries.stream()
                .filter(other -> other.data().equals(entry.data()))
                .toList();
        OptionalDouble seconds = EpochTimes.open(entry.folder()).perEpoch();
        return new TableCell(
                numbers(entry, baseline, column),
                entry.outcome(),
                entry.work().map(work -> TableCell.Size.of(work.load())),
                seconds,
                entry.data().paper().flatMap(paper -> paper.figure(entry.row())),
                settings.of(entry));
    }

    private static Optional<TableCell.Numbers> numbers(TableEntry entry, String baseline, List<TableEntry> column) {
        if (!(entry.outcome() instanceof RowOutcome.Finished finished)) {
            return Optional.empty();
        }
        requireDivision(entry, finished);
        Spread accuracy = accuracy(finished);
        Optional<Comparison> against = entry.row().name().equals(baseline)
                ? Optional.empty()
                : column.stream()
                        .filter(other -> other.row().name().equals(baseline))
                        .filter(other -> other.outcome() instanceof RowOutcome.Finished)
                        .map(other -> Comparison.of(
                                evaluations(finished), evaluations((RowOutcome.Finished) other.outcome())))
                        .findFirst();
        boolean best = column.stream()
                .filter(other -> other.outcome() instanceof RowOutcome.Finished)
                .allMatch(
                        other -> accuracy((RowOutcome.Finished) other.outcome()).mean() <= accuracy.mean());
        return Optional.of(new TableCell.Numbers(accuracy, afterFirst(finished), against, best));
    }

    /** Requires that all rows of a column use the same folds. */
    private static void requireDivision(TableEntry entry, RowOutcome.Finished finished) {
        var expected = entry.work().orElseThrow().plan().fingerprint();
        for (Evaluation evaluation : evaluations(finished)) {
            if (!evaluation.setting().fingerprint().equals(expected)) {
                throw new IllegalStateException(entry.folder() + ": expected results with the fingerprint "
                        + expected.brief() + ", found " + evaluation.setting());
            }
        }
    }

    private static List<Evaluation> evaluations(RowOutcome.Finished finished) {
        return finished.folds().stream().map(FoldResult::evaluation).toList();
    }

    private static Spread accuracy(RowOutcome.Finished finished) {
        return accuracy(evaluations(finished));
    }

    private static Spread accuracy(List<Evaluation> folds) {
        return Spread.of(folds.stream().map(Metric.ACCURACY::of).toList());
    }

    private static Optional<Spread> afterFirst(RowOutcome.Finished finished) {
        List<Evaluation> first = finished.folds().stream()
                .flatMap(fold -> fold.afterFirst().stream())
                .toList();
        return first.size() < finished.folds().size() ? Optional.empty() : Optional.of(accuracy(first));
    }

    /** Returns whether any row was fine-tuned. */
    public boolean hasSecondStage() {
        return lines.stream()
                .flatMap(line -> line.cells().stream())
                .flatMap(cell -> cell.numbers().stream())
                .anyMatch(numbers -> numbers.afterFirst().isPresent());
    }

    /**
     * Settings of a table, each listed once: common to all runs, common to a dataset, or of one run.
     *
     * @param all values by key of every planned entry
     * @param common values that all share
     */
    private record SharedSettings(Map<TableEntry, Map<String, String>> all, Map<String, String> common) {
        static SharedSettings of(List<TableEntry> entries) {
            Map<TableEntry, Map<String, String>> all = new LinkedHashMap<>();
            for (TableEntry entry : entries) {
                entry.work().ifPresent(work -> all.put(entry, texts(work)));
            }
            return new SharedSettings(all, shared(all.values()));
        }

        private static Map<String, String> texts(TableEntry.Work work) {
            Map<String, String> texts = new LinkedHashMap<>();
            for (Setting setting : work.plan().settings().values().values()) {
                if (!Keys.isOutput(setting.key())) { // does not change the numbers
                    texts.put(setting.key(), text(setting));
                }
            }
            return texts;
        }

        /** Returns the text of a value; weights without their folder, which means nothing on another machine. */
        private static String text(Setting setting) {
            return setting.key().equals(Keys.WEIGHTS.name())
                    ? String.valueOf(Path.of(setting.text()).getFileName())
                    : setting.text();
        }

        private static Map<String, String> shared(Collection<Map<String, String>> some) {
            Optional<Map<String, String>> first = some.stream().findFirst();
            Map<String, String> same = new LinkedHashMap<>(first.orElse(Map.of()));
            some.forEach(other ->
                    same.entrySet().removeIf(entry -> !entry.getValue().equals(other.get(entry.getKey()))));
            return same;
        }

        /** Returns the settings that all rows share on a dataset, but not on all datasets. */
        Map<String, String> of(TableData data) {
            return less(
                    shared(all.entrySet().stream()
                            .filter(entry -> entry.getKey().data().equals(data))
                            .map(Map.Entry::getValue)
                            .toList()),
                    common);
        }

        /** Returns the settings of one row on its dataset alone. */
        Map<String, String> of(TableEntry entry) {
            if (!all.containsKey(entry)) {
                return new HashMap<>();
            }
            Map<String, String> rest = less(Objects.requireNonNull(all.get(entry)), common);
            return less(rest, of(entry.data()));
        }

        private static Map<String, String> less(Map<String, String> texts, Map<String, String> others) {
            Map<String, String> rest = new LinkedHashMap<>(texts);
            rest.keySet().removeAll(others.keySet());
            return rest;
        }
    }

    /** Notes on the rows of a table that are needed to read its numbers, each once for all rows that it applies to. */
    static final class Remarks {
        private Remarks() {}

        /** @param baseline name of the row that the others are tested against */
        static List<String> of(TablePlan plan, String baseline, List<TableEntry> entries) {
            List<String> remarks = new ArrayList<>();
            List<TableEntry> planned =
                    entries.stream().filter(entry -> entry.work().isPresent()).toList();
            refused(plan, planned, remarks);
            random(planned, remarks);
            untested(baseline, entries, remarks);
            return remarks;
        }

        private static void refused(TablePlan plan, List<TableEntry> entries, List<String> remarks) {
            Set<String> keys = new LinkedHashSet<>();
            Set<String> titles = new LinkedHashSet<>();
            for (TableEntry entry : entries) {
                List<Setting> refused = entry.row().refused(plan.common());
                refused.forEach(setting -> keys.add(setting.key() + "=" + setting.text()));
                if (!refused.isEmpty()) {
                    titles.add(entry.title());
                }
            }
            if (!keys.isEmpty()) {
                remarks.add(String.join(" and ", keys) + " has no effect on " + String.join("; ", titles)
                        + ": that classifier is solved in closed form");
            }
        }

        private static void random(List<TableEntry> entries, List<String> remarks) {
            Set<String> titles = entries.stream()
                    .filter(Remarks::isRandom)
                    .map(TableEntry::title)
                    .collect(Collectors.toCollection(LinkedHashSet::new));
            if (!titles.isEmpty()) {
                remarks.add(
                        "the pooling has trainable parameters, which a closed-form classifier leaves at their random"
                                + " initialization: " + String.join("; ", titles));
            }
        }

        private static boolean isRandom(TableEntry entry) {
            var config = entry.work().orElseThrow().plan().config();
            NetworkConfig network = config.network();
            Pooling pooling = network.pooling().resolve(network.backbone(), Integer.MAX_VALUE);
            return config.recipe().solver().isPresent()
                    && pooling.parameters(network.backbone().channels()).stream()
                            .anyMatch(spec -> spec.role() != ParameterSpec.Role.FITTED
                                    && !pooling.pretrained().containsKey(spec.name()));
        }

        /** Notes results without a finished baseline. */
        private static void untested(String baseline, List<TableEntry> entries, List<String> remarks) {
            for (TableEntry base : entries) {
                boolean others = entries.stream()
                        .anyMatch(other ->
                                other.data().equals(base.data()) && other.outcome() instanceof RowOutcome.Finished);
                if (base.row().name().equals(baseline) && !(base.outcome() instanceof RowOutcome.Finished) && others) {
                    remarks.add("no differences and no p on " + base.data().name() + ": the baseline " + base.title()
                            + " is not trained");
                }
            }
        }
    }
}
