package org.gramian.report.table;

import java.util.Locale;
import java.util.OptionalDouble;
import org.gramian.evaluate.Interval;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.evaluate.Spread;
import org.gramian.report.table.TableSection.Cell;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableCell;

/** How the numbers of a table are written in its cells. */
final class CellTexts {
    /** What is not known. */
    static final String NONE = "–";

    private static final double SMALLEST_P = 0.001;

    private CellTexts() {}

    /** Mean and spread at the end of training, or why there are none. */
    static Cell accuracy(TableCell cell) {
        return cell.numbers()
                .map(numbers -> new Cell(text(numbers.accuracy()), numbers.best()))
                .orElseGet(() -> Cell.plain(cell.outcome() instanceof RowOutcome.Failed ? "not trained" : NONE));
    }

    static String afterFirst(TableCell cell) {
        return cell.numbers()
                .flatMap(TableCell.Numbers::afterFirst)
                .map(CellTexts::text)
                .orElse(NONE);
    }

    private static String text(Spread accuracy) {
        return accuracy.text(Metric.ACCURACY);
    }

    /** In points, as {@code +3.2 (0.4, 6.1)}. */
    static String difference(TableCell cell) {
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

    static String p(TableCell cell) {
        return cell.numbers()
                .flatMap(TableCell.Numbers::against)
                .map(against -> against.test().exactP())
                .map(p -> p < SMALLEST_P ? "< 0.001" : String.format(Locale.ROOT, "%.3f", p))
                .orElse(NONE);
    }

    static String descriptor(TableCell cell) {
        return cell.size()
                .map(size -> String.format(Locale.ROOT, "%,d", size.descriptor()))
                .orElse(NONE);
    }

    static String parameters(TableCell cell) {
        return cell.size().map(size -> count(size.parameters())).orElse(NONE);
    }

    private static String count(long number) {
        return number < 1_000_000
                ? String.format(Locale.ROOT, "%,d", number)
                : String.format(Locale.ROOT, "%.2f M", number / 1e6);
    }

    /** Three digits that count. */
    static String seconds(TableCell cell) {
        OptionalDouble seconds = cell.secondsPerEpoch();
        if (seconds.isEmpty()) {
            return NONE;
        }
        double value = seconds.getAsDouble();
        return String.format(Locale.ROOT, value < 1 ? "%.3f" : value < 10 ? "%.2f" : "%.1f", value);
    }
}
