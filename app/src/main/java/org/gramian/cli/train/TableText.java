package org.gramian.cli.train;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.gramian.backbone.weights.MissingWeightsException;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.Failures;
import org.gramian.cli.common.PlanText;
import org.gramian.report.table.TableReport;
import org.gramian.report.table.TableSection;
import org.gramian.run.plan.Estimate;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableCell;
import org.gramian.run.table.TableEntry;

/** A table of methods on the terminal, no wider than {@value #WIDTH} columns as far as its numbers allow. */
final class TableText {
    static final int WIDTH = 120;

    private static final int SHORTEST_TITLE = 20;
    private static final int GAP = 2;

    private TableText() {}

    /** All numbers, the best of a column with a star. */
    static String of(TableReport report) {
        StringBuilder text = new StringBuilder();
        for (TableSection section : report.sections()) {
            text.append(QuotedText.visible(section.title())).append(System.lineSeparator());
            List<List<String>> rows = new ArrayList<>(List.of(section.head()));
            section.rows()
                    .forEach(row -> rows.add(row.stream()
                            .map(cell -> cell.best() ? "*" + cell.text() : cell.text())
                            .toList()));
            append(text, rows);
            text.append(System.lineSeparator());
        }
        if (report.sections().stream()
                .flatMap(section -> section.rows().stream().flatMap(List::stream))
                .anyMatch(TableSection.Cell::best)) {
            text.append("*: best of the column").append(System.lineSeparator());
        }
        report.notes().forEach(note -> text.append(QuotedText.visible(note)).append(System.lineSeparator()));
        return text.toString();
    }

    private static void append(StringBuilder text, List<List<String>> rows) {
        int numbers = 0;
        for (int i = 1; i < rows.getFirst().size(); i++) {
            int column = i;
            numbers += GAP
                    + rows.stream()
                            .mapToInt(row -> row.get(column).length())
                            .max()
                            .orElse(0);
        }
        int longest = Math.max(SHORTEST_TITLE, WIDTH - numbers);
        Columns columns = new Columns();
        for (List<String> row : rows) {
            List<String> cells = new ArrayList<>(row);
            cells.set(0, shortened(row.getFirst(), longest));
            columns.row(cells);
        }
        columns.appendTo(text);
    }

    private static String shortened(String title, int longest) {
        return title.length() <= longest
                ? title
                : title.substring(0, longest - 1).strip() + "…";
    }

    /** Why a row could not be trained. */
    static String reason(Throwable cause) {
        return (cause instanceof MissingWeightsException ? "not installed: " : "") + Failures.message(cause);
    }

    /**
     * What would be trained, under names that options take.
     *
     * @param estimates of what is left to train
     * @param remarks what has to be known of some rows
     */
    static String plan(List<TableEntry> entries, Map<TableEntry, Estimate> estimates, List<String> remarks) {
        StringBuilder text = new StringBuilder();
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("row", "name", "dataset", "size", "params", "state", "time"));
        for (TableEntry entry : entries) {
            Optional<TableCell.Size> size = entry.work().map(work -> TableCell.Size.of(work.load()));
            rows.add(List.of(
                    entry.title(),
                    entry.row().name(),
                    entry.data().name(),
                    size.map(one -> grouped(one.descriptor())).orElse("–"),
                    size.map(one -> grouped(one.parameters())).orElse("–"),
                    state(entry.outcome()),
                    Optional.ofNullable(estimates.get(entry))
                            .map(one -> PlanText.duration(one.stage1().plus(one.stage2())))
                            .orElse("–")));
        }
        append(text, rows);
        failures(entries).forEach(line -> text.append(QuotedText.visible(line)).append(System.lineSeparator()));
        remarks.forEach(line -> text.append(QuotedText.visible(line)).append(System.lineSeparator()));
        if (estimates.isEmpty()) {
            return text.append("nothing to train")
                    .append(System.lineSeparator())
                    .toString();
        }
        return text.append("about ")
                .append(PlanText.duration(total(estimates)))
                .append(" if all epochs are needed, features included (estimated from one batch per row)")
                .append(System.lineSeparator())
                .toString();
    }

    /** Returns why rows cannot be trained; a shared reason appears once. */
    private static List<String> failures(List<TableEntry> entries) {
        Map<String, List<String>> places = new LinkedHashMap<>();
        for (TableEntry entry : entries) {
            if (entry.outcome() instanceof RowOutcome.Failed failed) {
                places.computeIfAbsent(reason(failed.cause()), _ -> new ArrayList<>())
                        .add(entry.title() + " on " + entry.data().name());
            }
        }
        return places.entrySet().stream()
                .map(one -> String.join("; ", one.getValue()) + ": " + one.getKey())
                .toList();
    }

    private static String state(RowOutcome outcome) {
        return switch (outcome) {
            case RowOutcome.Finished _ -> "finished";
            case RowOutcome.Unfinished unfinished ->
                unfinished.done() == 0 ? "to train" : unfinished.done() + " of " + unfinished.all() + " folds";
            case RowOutcome.Failed _ -> "cannot be trained";
        };
    }

    private static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    /** Features of a dataset are computed once, for whichever row needs most of them. */
    static Duration total(Map<TableEntry, Estimate> estimates) {
        Map<String, Duration> features = new HashMap<>();
        Duration total = Duration.ZERO;
        for (Map.Entry<TableEntry, Estimate> one : estimates.entrySet()) {
            total = total.plus(one.getValue().stage1()).plus(one.getValue().stage2());
            features.merge(
                    one.getKey().data().name(),
                    one.getValue().features(),
                    (first, second) -> first.compareTo(second) < 0 ? second : first);
        }
        return features.values().stream().reduce(total, Duration::plus);
    }
}
