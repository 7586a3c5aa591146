package org.gramian.table;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.gramian.basis.CsvText;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.evaluate.Proportion.Interval;
import org.gramian.table.ResultTable.Cell;
import org.gramian.table.ResultTable.Numbers;
import org.jspecify.annotations.Nullable;

/** A table as text: Markdown for readers, CSV and JSON for programs. */
public record TableReport(ResultTable table, String command, Function<Throwable, String> wording) {
    /** A table of texts. The best value of a column starts with {@value #BEST}. */
    public record Section(String title, List<List<String>> rows) {}

    /** First character of the best value of a column. */
    public static final String BEST = "*";

    /** Text of an unknown value. */
    private static final String NONE = "–";

    public Map<String, String> files() {
        return Map.of("table.md", markdown(), "table.csv", csv(), "table.json", json());
    }

    /** Returns the overview, if there are several datasets, and the details of each dataset. */
    public List<Section> sections() {
        List<Section> sections = new ArrayList<>();
        if (table.columns().size() > 1) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(row("method", table.columns(), ResultTable.Column::title));
            table.cells().stream()
                    .collect(Collectors.groupingBy(Cell::name, LinkedHashMap::new, Collectors.toList()))
                    .values()
                    .forEach(cells -> rows.add(row(cells.getFirst().title(), cells, TableReport::accuracy)));
            sections.add(new Section("Accuracy in percent", rows));
        }
        table.columns().forEach(column -> sections.add(details(column)));
        return sections;
    }

    private static <T> List<String> row(String title, List<T> values, Function<T, String> text) {
        List<String> row = new ArrayList<>(List.of(title));
        values.forEach(value -> row.add(text.apply(value)));
        return row;
    }

    private Section details(ResultTable.Column column) {
        List<Cell> cells = table.cells().stream()
                .filter(cell -> cell.column().equals(column))
                .toList();
        Map<String, Function<Cell, String>> texts = new LinkedHashMap<>();
        if (table.hasSecondStage()) {
            texts.put("frozen (stage 1)", cell -> text(cell.numbers().flatMap(Numbers::afterFirst), TableReport::text));
        }
        texts.put("accuracy", TableReport::accuracy);
        texts.put("difference", cell -> text(test(cell), TableReport::difference));
        texts.put("p", cell -> text(test(cell), TableReport::p));
        texts.put("size", cell -> text(cell.size(), size -> String.format(Locale.ROOT, "%,d", size.descriptor())));
        texts.put("params", cell -> text(cell.size(), size -> count(size.parameters())));
        if (cells.stream().anyMatch(cell -> cell.published().isPresent())) {
            texts.put("paper (VGG-16)", cell -> cell.published().orElse(NONE));
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(row("method", List.copyOf(texts.keySet()), name -> name));
        for (Cell cell : cells) {
            rows.add(row(cell.title(), List.copyOf(texts.values()), text -> text.apply(cell)));
        }
        String folds = column.folds() == 1 ? "one fold" : "mean ± std of " + column.folds() + " folds";
        return new Section(
                column.fingerprint().isEmpty()
                        ? column.title()
                        : column.title() + ": accuracy in percent, " + folds + " (fingerprint "
                                + column.fingerprint().substring(0, 12) + ")",
                rows);
    }

    private static <T> String text(Optional<T> value, Function<T, String> text) {
        return value.map(text).orElse(NONE);
    }

    private static Optional<PairedTest> test(Cell cell) {
        return cell.numbers().flatMap(Numbers::against).map(Comparison::test);
    }

    /** Returns the final accuracy, mean and standard deviation. */
    private static String accuracy(Cell cell) {
        return cell.numbers()
                .map(numbers -> (numbers.best() ? BEST : "") + text(numbers.accuracy()))
                .orElse(cell.failure().isPresent() ? "not trained" : NONE);
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
        if (table.hasSecondStage()) {
            notes.add("accuracy: final test accuracy; frozen (stage 1): before fine-tuning, in rows with a stage 2");
        }
        notes.add("difference: percentage points over " + table.baseline()
                + ", with its 95 % confidence interval; p: McNemar's exact test over the test images of all folds");
        notes.add("the interval is approximate and p is exact, so they may disagree about a difference of 0");
        List<Comparison> comparisons = table.cells().stream()
                .flatMap(cell -> cell.numbers().stream())
                .flatMap(numbers -> numbers.against().stream())
                .toList();
        if (comparisons.size() > 1) {
            notes.add("multiple comparisons: require p below 0.05 / " + comparisons.size());
        }
        if (comparisons.stream().anyMatch(comparison -> comparison.repeated() > 0)) {
            notes.add("folds share test images, so p is too small");
        }
        notes.add("size: descriptor size; params: trainable parameters of pooling and classifier");
        if (table.cells().stream().anyMatch(cell -> cell.published().isPresent())) {
            notes.add("paper (VGG-16): accuracy reported in the paper under its own protocol, not measured here");
        }
        notes.addAll(table.remarks());
        table.cells().stream()
                .filter(cell -> cell.numbers().isEmpty())
                .forEach(cell -> notes.add(cell.title() + " on " + cell.column().title() + " is " + status(cell)));
        return notes;
    }

    /** Returns the state and its reason, if any. */
    private String status(Cell cell) {
        return cell.numbers().isPresent()
                ? "finished"
                : cell.failure()
                        .map(cause -> "not trained: " + wording.apply(cause))
                        .orElse("not trained yet: " + cell.done() + " of "
                                + cell.column().folds() + " folds");
    }

    private String markdown() {
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
        fenced(text, command);
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

    /** Adds the command, in a fence longer than any run of backticks inside. */
    private static void fenced(StringBuilder text, String command) {
        String fence = "```";
        while (command.contains(fence)) {
            fence += "`";
        }
        text.append("\nCommand:\n\n%s\n%s\n%s\n".formatted(fence, QuotedText.visible(command), fence));
    }

    /** Escapes Markdown and HTML. */
    private static String escaped(String text) {
        return QuotedText.visible(text).replaceAll("[\\\\|*_`<>\\[\\]#~&]", "\\\\$0");
    }

    private String csv() {
        List<Map<String, @Nullable Object>> records =
                table.cells().stream().map(this::fields).toList();
        records.forEach(one -> {
            one.put("baseline", table.baseline());
            one.put("command", command);
        });
        StringWriter text = new StringWriter();
        CsvWriter csv = CsvWriter.builder()
                .lineDelimiter(LineDelimiter.LF)
                .bufferSize(0)
                .build(text);
        csv.writeRecord(records.getFirst().keySet());
        for (Map<String, @Nullable Object> one : records) {
            csv.writeRecord(CsvText.safe(one.values().stream()
                    .map(value -> Objects.toString(value, ""))
                    .toList()));
        }
        return text.toString();
    }

    private String json() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("format", "gramian-table");
        document.put("version", 2);
        document.put("command", command);
        document.put("baseline", table.baseline());
        List<Map<String, @Nullable Object>> results =
                table.cells().stream().map(this::fields).toList();
        results.forEach(result -> result.values().removeIf(Objects::isNull));
        document.put("results", results);
        document.put("notes", notes());
        return JsonText.indented(document) + "\n";
    }

    /** Returns the record of a method and dataset: accuracies from 0 to 1 in full precision, unknown values null. */
    private Map<String, @Nullable Object> fields(Cell cell) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("row", cell.name());
        fields.put("title", cell.title());
        fields.put("dataset", cell.column().title());
        fields.put("status", status(cell));
        fields.put("folds", cell.column().folds());
        Optional<Numbers> numbers = cell.numbers();
        put(fields, "accuracy_mean", numbers.map(Numbers::accuracy), Spread::mean);
        put(fields, "accuracy_std", numbers.map(Numbers::accuracy), TableReport::deviation);
        put(fields, "stage1_accuracy_mean", numbers.flatMap(Numbers::afterFirst), Spread::mean);
        put(fields, "stage1_accuracy_std", numbers.flatMap(Numbers::afterFirst), TableReport::deviation);
        put(fields, "best", numbers, Numbers::best);
        Optional<PairedTest> test = test(cell);
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
        put(fields, "descriptor", cell.size(), ResultTable.Size::descriptor);
        put(fields, "parameters", cell.size(), ResultTable.Size::parameters);
        fields.put("paper_vgg16", cell.published().orElse(null));
        fields.put("fingerprint", cell.column().fingerprint());
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
