package org.gramian.report.table;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.Interval;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.report.table.TableSection.Cell;
import org.gramian.run.table.ResultTable;
import org.gramian.run.table.ResultTable.Column;
import org.gramian.run.table.ResultTable.Line;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableCell;

/**
 * Text of a table, shared by all formats.
 *
 * @param table the numbers
 * @param command that made it
 * @param machine description of the hardware
 * @param wording message for a row that failed
 */
public record TableReport(ResultTable table, String command, String machine, Function<Throwable, String> wording) {
    private static final String METHOD = "method";

    /** Text of an unknown value. */
    private static final String NONE = "–";

    private static final double SMALLEST_P = 0.001;

    /** Returns the overview, if there are several datasets, and the details of each dataset. */
    public List<TableSection> sections() {
        return Stream.concat(
                        table.columns().size() > 1 ? Stream.of(overview()) : Stream.of(),
                        IntStream.range(0, table.columns().size()).mapToObj(this::details))
                .toList();
    }

    /** Returns the accuracies, methods by dataset. */
    public TableSection overview() {
        List<String> head = new ArrayList<>(List.of(METHOD));
        table.columns().forEach(column -> head.add(column.title()));
        List<List<Cell>> rows = new ArrayList<>();
        for (Line line : table.lines()) {
            List<Cell> row = new ArrayList<>(List.of(Cell.plain(line.title())));
            line.cells().forEach(cell -> row.add(accuracy(cell)));
            rows.add(row);
        }
        return new TableSection("Accuracy in percent", head, rows);
    }

    /** Returns all numbers of a dataset in the order of the table. */
    TableSection details(int column) {
        return details(column, table.lines());
    }

    /** Returns all numbers of a dataset, best row first, rows without numbers last. */
    public TableSection ranking(int column) {
        Comparator<Line> best = Comparator.comparingDouble(line -> line.cells()
                .get(column)
                .numbers()
                .map(numbers -> -numbers.accuracy().mean())
                .orElse(Double.POSITIVE_INFINITY));
        return details(column, table.lines().stream().sorted(best).toList());
    }

    private TableSection details(int column, List<Line> lines) {
        boolean stages = table.hasSecondStage();
        boolean paper = table.lines().stream()
                .anyMatch(line -> line.cells().get(column).published().isPresent());
        List<String> head = new ArrayList<>(List.of(METHOD));
        head.addAll(stages ? List.of("frozen (stage 1)", "accuracy") : List.of("accuracy"));
        head.addAll(List.of("difference", "p", "size", "params", "s/epoch"));
        if (paper) {
            head.add("paper (VGG-16)");
        }
        List<List<Cell>> rows = new ArrayList<>();
        for (Line line : lines) {
            TableCell cell = line.cells().get(column);
            List<Cell> row = new ArrayList<>(List.of(Cell.plain(line.title())));
            if (stages) {
                row.add(Cell.plain(afterFirst(cell)));
            }
            row.add(accuracy(cell));
            row.add(Cell.plain(difference(cell)));
            row.add(Cell.plain(p(cell)));
            row.add(Cell.plain(descriptor(cell)));
            row.add(Cell.plain(parameters(cell)));
            row.add(Cell.plain(seconds(cell)));
            if (paper) {
                row.add(Cell.plain(cell.published().orElse(NONE)));
            }
            rows.add(row);
        }
        return new TableSection(heading(table.columns().get(column)), head, rows);
    }

    private static String heading(Column column) {
        if (column.fingerprint().isEmpty()) {
            return column.title();
        }
        return "%s: accuracy in percent, %s (fingerprint %s)"
                .formatted(
                        column.title(),
                        column.folds() == 1 ? "one fold" : "mean ± std of " + column.folds() + " folds",
                        column.fingerprint().substring(0, 12));
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
        List<Comparison> comparisons = cells().flatMap(cell -> cell.numbers().stream())
                .flatMap(numbers -> numbers.against().stream())
                .toList();
        if (comparisons.size() > 1) {
            notes.add("multiple comparisons: require p below 0.05 / " + comparisons.size());
        }
        if (comparisons.stream().anyMatch(comparison -> comparison.repeated() > 0)) {
            notes.add("folds share test images, so p is too small");
        }
        notes.add("size: descriptor size; params: trainable parameters of pooling and classifier; s/epoch: median of"
                + " stage 1, on " + machine);
        if (cells().anyMatch(cell -> cell.published().isPresent())) {
            notes.add("paper (VGG-16): accuracy reported in the paper under its own protocol, not measured here");
        }
        notes.addAll(table.remarks());
        missing(notes);
        return notes;
    }

    private void missing(List<String> notes) {
        for (Line line : table.lines()) {
            for (int i = 0; i < table.columns().size(); i++) {
                String place = line.title() + " on " + table.columns().get(i).title() + ": ";
                switch (line.cells().get(i).outcome()) {
                    case RowOutcome.Finished _ -> {}
                    case RowOutcome.Unfinished unfinished ->
                        notes.add(place + "not trained yet"
                                + (unfinished.done() == 0
                                        ? ""
                                        : " (" + unfinished.done() + " of " + unfinished.all() + " folds are)"));
                    case RowOutcome.Failed failed -> notes.add(place + wording.apply(failed.cause()));
                }
            }
        }
    }

    private Stream<TableCell> cells() {
        return table.lines().stream().flatMap(line -> line.cells().stream());
    }

    /** Returns every setting once, one per line. */
    public List<String> configuration() {
        List<String> lines = new ArrayList<>();
        add(lines, "all trained rows", table.common());
        table.columns().forEach(column -> add(lines, column.name(), column.settings()));
        for (Line line : table.lines()) {
            for (int i = 0; i < table.columns().size(); i++) {
                String where = table.columns().size() == 1
                        ? ""
                        : " on " + table.columns().get(i).name();
                add(lines, line.name() + where, line.cells().get(i).own());
            }
        }
        return lines;
    }

    private static void add(List<String> lines, String what, Map<String, String> settings) {
        settings.forEach((key, text) -> lines.add(what + ": " + key + "=" + text));
    }

    /** Returns the final accuracy, mean and standard deviation. */
    private static Cell accuracy(TableCell cell) {
        return cell.numbers()
                .map(numbers -> new Cell(text(numbers.accuracy()), numbers.best()))
                .orElseGet(() -> Cell.plain(cell.outcome() instanceof RowOutcome.Failed ? "not trained" : NONE));
    }

    private static String afterFirst(TableCell cell) {
        return cell.numbers()
                .flatMap(TableCell.Numbers::afterFirst)
                .map(TableReport::text)
                .orElse(NONE);
    }

    private static String text(Spread accuracy) {
        return accuracy.text(Metric.ACCURACY);
    }

    /** Returns the difference in percentage points, as {@code +3.2 (0.4, 6.1)}. */
    private static String difference(TableCell cell) {
        return cell.numbers()
                .flatMap(TableCell.Numbers::against)
                .map(against -> difference(against.test()))
                .orElse(NONE);
    }

    private static String difference(PairedTest test) {
        Interval interval = test.differenceInterval();
        return String.format(
                Locale.ROOT,
                "%+.1f (%.1f, %.1f)",
                100 * test.difference(),
                100 * interval.low(),
                100 * interval.high());
    }

    private static String p(TableCell cell) {
        return cell.numbers()
                .flatMap(TableCell.Numbers::against)
                .map(against -> against.test().exactP())
                .map(p -> p < SMALLEST_P ? "< 0.001" : String.format(Locale.ROOT, "%.3f", p))
                .orElse(NONE);
    }

    private static String descriptor(TableCell cell) {
        return cell.size()
                .map(size -> String.format(Locale.ROOT, "%,d", size.descriptor()))
                .orElse(NONE);
    }

    private static String parameters(TableCell cell) {
        return cell.size().map(size -> count(size.parameters())).orElse(NONE);
    }

    private static String count(long number) {
        return number < 1_000_000
                ? String.format(Locale.ROOT, "%,d", number)
                : String.format(Locale.ROOT, "%.2f M", number / 1e6);
    }

    /** Returns three significant digits. */
    private static String seconds(TableCell cell) {
        OptionalDouble seconds = cell.secondsPerEpoch();
        if (seconds.isEmpty()) {
            return NONE;
        }
        double value = seconds.getAsDouble();
        return String.format(Locale.ROOT, value < 1 ? "%.3f" : value < 10 ? "%.2f" : "%.1f", value);
    }
}
