package org.gramian.table;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.gramian.basis.CsvText;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Proportion.Interval;
import org.gramian.evaluate.compare.Comparison;
import org.gramian.evaluate.compare.FoldSummary.Spread;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.run.config.Settings.Setting;
import org.gramian.table.TableRun.Entry;
import org.jspecify.annotations.Nullable;

/** The results of a table, row by row, each row on all datasets; as Markdown for readers, as CSV and JSON for programs. */
public record ResultTable(String baseline, List<Result> results, List<String> remarks) {
    /** First character of the best value of a column. */
    public static final String BEST = "*";

    /** Text of an unknown value. */
    private static final String NONE = "–";

    /**
     * A row on a dataset.
     *
     * @param name of the row
     * @param status {@code finished}, or why it is not
     */
    public record Result(
            Column column,
            String name,
            String title,
            String status,
            Optional<Numbers> numbers,
            Optional<Size> size,
            Optional<String> published) {}

    /** A dataset. */
    public record Column(String name, String title, String fingerprint, int folds) {}

    /**
     * Accuracy and paired test.
     *
     * @param frozen accuracy after stage 1, if fine-tuning followed
     * @param against paired test of this row against the baseline; empty for the baseline itself and while it is not finished
     * @param best whether no finished row on this dataset has a higher mean
     */
    public record Numbers(Spread accuracy, Optional<Spread> frozen, Optional<Comparison> against, boolean best) {}

    /** Length of the descriptor, and number of trained parameters of pooling and classifier. */
    public record Size(long descriptor, long parameters) {}

    /** A table of texts. The best value of a column starts with {@value #BEST}. */
    public record Section(String title, List<List<String>> rows) {}

    static ResultTable of(TableRun.Plan plan, List<Entry> entries, Function<Throwable, String> wording) {
        ToLongFunction<TableRow> finished = row -> entries.stream()
                .filter(entry -> entry.row().equals(row) && entry.isFinished())
                .count();
        String baseline = plan.baseline() // else the first row that is finished on the most datasets
                .orElseGet(() -> Collections.max(plan.rows(), Comparator.comparingLong(finished))
                        .name());
        List<Result> results = new ArrayList<>();
        for (Entry entry : entries) {
            List<Entry> column = entries.stream()
                    .filter(other -> other.data().name().equals(entry.data().name()))
                    .toList();
            String status = entry.isFinished()
                    ? "finished"
                    : entry.failure()
                            .map(cause -> "not trained: " + wording.apply(cause))
                            .orElseGet(() ->
                                    "not trained yet: " + entry.folds().size() + " of " + entry.foldCount() + " folds");
            results.add(new Result(
                    column(column),
                    entry.row().name(),
                    entry.title(),
                    status,
                    entry.isFinished() ? Optional.of(numbers(entry, baseline, column)) : Optional.empty(),
                    entry.size(),
                    entry.data().paper().flatMap(paper -> paper.figure(entry.row()))));
        }
        String title = entries.stream()
                .filter(entry -> entry.row().name().equals(baseline))
                .map(Entry::title)
                .findFirst()
                .orElse(baseline);
        return new ResultTable(title, results, remarks(plan, entries));
    }

    /** Returns a dataset as its rows see it; rows that cannot be planned have no folds. */
    private static Column column(List<Entry> rows) {
        Entry planned = Collections.max(rows, Comparator.comparingInt(Entry::foldCount));
        return new Column(
                planned.data().name(),
                planned.data()
                        .paper()
                        .map(PaperData::title)
                        .orElse(planned.data().name()),
                planned.plan().map(plan -> plan.fingerprint().hex()).orElse(""),
                planned.foldCount());
    }

    private static Numbers numbers(Entry entry, String baseline, List<Entry> column) {
        List<Entry> finished = column.stream().filter(Entry::isFinished).toList();
        Spread accuracy = accuracy(entry.evaluations());
        List<Evaluation> first = entry.folds().stream()
                .flatMap(fold -> fold.afterFirst().stream())
                .toList();
        return new Numbers(
                accuracy,
                first.size() < entry.foldCount() ? Optional.empty() : Optional.of(accuracy(first)),
                finished.stream()
                        .filter(other -> other.row().name().equals(baseline) && !other.equals(entry))
                        .map(other -> Comparison.of(entry.evaluations(), other.evaluations()))
                        .findFirst(),
                finished.stream()
                        .allMatch(other -> accuracy(other.evaluations()).mean() <= accuracy.mean()));
    }

    private static Spread accuracy(List<Evaluation> folds) {
        return Spread.of(folds.stream().map(Metric.ACCURACY::of).toList());
    }

    /** Returns the notes that are needed to read the numbers, each once for all rows that it applies to. */
    private static List<String> remarks(TableRun.Plan plan, List<Entry> entries) {
        Set<String> ignored = new LinkedHashSet<>();
        Set<String> solved = new LinkedHashSet<>();
        Set<String> random = new LinkedHashSet<>();
        for (Entry entry :
                entries.stream().filter(one -> one.plan().isPresent()).toList()) {
            for (Setting setting : entry.row().refused(plan.common())) {
                ignored.add(setting.key() + "=" + setting.text());
                solved.add(entry.title());
            }
            if (entry.plan().orElseThrow().hasRandomPooling()) {
                random.add(entry.title());
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

    /** Returns whether any row was fine-tuned. */
    public boolean hasSecondStage() {
        return results.stream()
                .flatMap(result -> result.numbers().stream())
                .anyMatch(numbers -> numbers.frozen().isPresent());
    }

    /** Returns the overview, if there are several datasets, and the details of each dataset. */
    public List<Section> sections() {
        List<Section> sections = new ArrayList<>();
        Map<Column, List<Result>> columns = grouped(Result::column);
        if (columns.size() > 1) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(row("method", columns.keySet(), Column::title));
            grouped(Result::name)
                    .values()
                    .forEach(row -> rows.add(row(row.getFirst().title(), row, ResultTable::accuracy)));
            sections.add(new Section("Accuracy in percent", rows));
        }
        columns.forEach((column, rows) -> sections.add(details(column, rows)));
        return sections;
    }

    private <K> Map<K, List<Result>> grouped(Function<Result, K> key) {
        return results.stream().collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
    }

    private static <T> List<String> row(String title, Iterable<T> values, Function<T, String> text) {
        List<String> row = new ArrayList<>(List.of(title));
        values.forEach(value -> row.add(text.apply(value)));
        return row;
    }

    private Section details(Column column, List<Result> results) {
        Map<String, Function<Result, String>> texts = new LinkedHashMap<>();
        if (hasSecondStage()) {
            texts.put("frozen (stage 1)", one -> text(one.numbers().flatMap(Numbers::frozen), ResultTable::text));
        }
        texts.put("accuracy", ResultTable::accuracy);
        texts.put("difference", one -> text(test(one), ResultTable::difference));
        texts.put("p", one -> text(test(one), ResultTable::p));
        texts.put("size", one -> text(one.size(), size -> String.format(Locale.ROOT, "%,d", size.descriptor())));
        texts.put("params", one -> text(one.size(), size -> count(size.parameters())));
        if (hasPublished(results)) {
            texts.put("paper (VGG-16)", one -> one.published().orElse(NONE));
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(row("method", texts.keySet(), name -> name));
        results.forEach(one -> rows.add(row(one.title(), texts.values(), text -> text.apply(one))));
        String folds = column.folds() == 1 ? "one fold" : "mean ± std of " + column.folds() + " folds";
        String title = column.fingerprint().isEmpty()
                ? column.title()
                : column.title() + ": accuracy in percent, " + folds + " (fingerprint "
                        + column.fingerprint().substring(0, 12) + ")";
        return new Section(title, rows);
    }

    private static boolean hasPublished(List<Result> results) {
        return results.stream().anyMatch(one -> one.published().isPresent());
    }

    private static <T> String text(Optional<T> value, Function<T, String> text) {
        return value.map(text).orElse(NONE);
    }

    private static Optional<PairedTest> test(Result result) {
        return result.numbers().flatMap(Numbers::against).map(Comparison::test);
    }

    /** Returns the final accuracy, mean and standard deviation. */
    private static String accuracy(Result result) {
        return text(result.numbers(), numbers -> (numbers.best() ? BEST : "") + text(numbers.accuracy()));
    }

    private static String text(Spread accuracy) {
        return accuracy.text(Metric.ACCURACY);
    }

    /** Returns the difference in percentage points, as {@code +3.2 (0.4, 6.1)}. */
    private static String difference(PairedTest test) {
        Interval interval = test.differenceInterval();
        return String.format(
                Locale.ROOT,
                "%+.1f (%.1f, %.1f)",
                100 * test.difference(),
                100 * interval.low(),
                100 * interval.high());
    }

    private static String p(PairedTest test) {
        return test.exactP() < 0.001 ? "< 0.001" : String.format(Locale.ROOT, "%.3f", test.exactP());
    }

    private static String count(long number) {
        return number < 1_000_000
                ? String.format(Locale.ROOT, "%,d", number)
                : String.format(Locale.ROOT, "%.2f M", number / 1e6);
    }

    /** Returns explanations of the columns and of empty cells. */
    public List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (hasSecondStage()) {
            notes.add("accuracy: final test accuracy; frozen (stage 1): before fine-tuning, in rows with a stage 2");
        }
        notes.add("difference: percentage points over " + baseline
                + ", with its 95 % confidence interval; p: McNemar's exact test over the test images of all folds");
        notes.add("the interval is approximate and p is exact, so they may disagree about a difference of 0");
        List<Comparison> comparisons = results.stream()
                .flatMap(result -> result.numbers().stream())
                .flatMap(numbers -> numbers.against().stream())
                .toList();
        if (comparisons.size() > 1) {
            notes.add("multiple comparisons: require p below 0.05 / " + comparisons.size());
        }
        if (comparisons.stream().anyMatch(comparison -> comparison.repeated() > 0)) {
            notes.add("folds share test images, so p is too small");
        }
        notes.add("size: descriptor size; params: trainable parameters of pooling and classifier");
        if (hasPublished(results)) {
            notes.add("paper (VGG-16): accuracy reported in the paper under its own protocol, not measured here");
        }
        notes.addAll(remarks);
        results.stream()
                .filter(one -> one.numbers().isEmpty())
                .forEach(one -> notes.add(one.title() + " on " + one.column().title() + " is " + one.status()));
        return notes;
    }

    /** Returns the content of the files of a table by their names. */
    public Map<String, String> files(String command) {
        return Map.of("table.md", markdown(command), "table.csv", csv(command), "table.json", json(command));
    }

    private String markdown(String command) {
        StringBuilder text = new StringBuilder();
        for (Section section : sections()) {
            text.append("**").append(escaped(section.title())).append("**\n\n");
            line(text, section.rows().getFirst());
            text.append("|---|")
                    .append("---:|".repeat(section.rows().getFirst().size() - 1))
                    .append('\n');
            section.rows().stream().skip(1).forEach(row -> line(text, row));
            text.append('\n');
        }
        notes().forEach(note -> text.append("- ").append(escaped(note)).append('\n'));
        String fence = "```";
        while (command.contains(fence)) {
            fence += "`";
        }
        text.append("\nCommand:\n\n%s\n%s\n%s\n".formatted(fence, QuotedText.visible(command), fence));
        return text.toString();
    }

    /** The title of a row may start with {@value #BEST} without being the best value. */
    private static void line(StringBuilder text, List<String> cells) {
        text.append("| ").append(escaped(cells.getFirst()));
        for (String cell : cells.subList(1, cells.size())) {
            text.append(" | ").append(cell.startsWith(BEST) ? "**" + escaped(cell.substring(1)) + "**" : escaped(cell));
        }
        text.append(" |\n");
    }

    /** Escapes Markdown and HTML. */
    private static String escaped(String text) {
        return QuotedText.visible(text).replaceAll("[\\\\|*_`<>\\[\\]#~&]", "\\\\$0");
    }

    private String csv(String command) {
        StringWriter text = new StringWriter();
        CsvWriter csv = CsvWriter.builder()
                .lineDelimiter(LineDelimiter.LF)
                .bufferSize(0)
                .build(text);
        for (Result result : results) {
            Map<String, @Nullable Object> fields = fields(result);
            fields.put("baseline", baseline);
            fields.put("command", command);
            if (text.getBuffer().isEmpty()) {
                csv.writeRecord(fields.keySet());
            }
            csv.writeRecord(CsvText.safe(fields.values().stream()
                    .map(value -> Objects.toString(value, ""))
                    .toList()));
        }
        return text.toString();
    }

    private String json(String command) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("format", "gramian-table");
        document.put("version", 2);
        document.put("command", command);
        document.put("baseline", baseline);
        List<Map<String, @Nullable Object>> known =
                results.stream().map(ResultTable::fields).toList();
        known.forEach(result -> result.values().removeIf(Objects::isNull));
        document.put("results", known);
        document.put("notes", notes());
        return JsonText.indented(document) + "\n";
    }

    /** Returns the record of a method and dataset: accuracies from 0 to 1 in full precision, unknown values null. */
    private static Map<String, @Nullable Object> fields(Result result) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("row", result.name());
        fields.put("title", result.title());
        fields.put("dataset", result.column().title());
        fields.put("status", result.status());
        fields.put("folds", result.column().folds());
        Optional<Numbers> numbers = result.numbers();
        put(fields, "accuracy_mean", numbers.map(Numbers::accuracy), Spread::mean);
        put(fields, "accuracy_std", numbers.map(Numbers::accuracy), ResultTable::deviation);
        put(fields, "stage1_accuracy_mean", numbers.flatMap(Numbers::frozen), Spread::mean);
        put(fields, "stage1_accuracy_std", numbers.flatMap(Numbers::frozen), ResultTable::deviation);
        put(fields, "best", numbers, Numbers::best);
        Optional<PairedTest> test = test(result);
        put(fields, "difference", test, PairedTest::difference);
        put(fields, "difference_low", test, one -> one.differenceInterval().low());
        put(fields, "difference_high", test, one -> one.differenceInterval().high());
        put(fields, "p_exact", test, PairedTest::exactP);
        put(fields, "p_mid", test, PairedTest::midP);
        put(fields, "images", test, PairedTest::images);
        put(fields, "both_right", test, PairedTest::bothRight);
        put(fields, "only_this_right", test, PairedTest::onlyFirst);
        put(fields, "only_baseline_right", test, PairedTest::onlySecond);
        put(fields, "both_wrong", test, PairedTest::bothWrong);
        put(fields, "repeated", numbers.flatMap(Numbers::against), Comparison::repeated);
        put(fields, "descriptor", result.size(), Size::descriptor);
        put(fields, "parameters", result.size(), Size::parameters);
        fields.put("paper_vgg16", result.published().orElse(null));
        fields.put("fingerprint", result.column().fingerprint());
        return fields;
    }

    private static <T> void put(
            Map<String, @Nullable Object> fields, String name, Optional<T> value, Function<T, @Nullable Object> field) {
        fields.put(name, value.isPresent() ? field.apply(value.get()) : null);
    }

    private static @Nullable Object deviation(Spread spread) {
        OptionalDouble deviation = spread.deviation();
        return deviation.isPresent() ? deviation.getAsDouble() : null;
    }
}
