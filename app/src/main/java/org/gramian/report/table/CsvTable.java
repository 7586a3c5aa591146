package org.gramian.report.table;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import org.gramian.basis.CsvText;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.run.table.ResultTable.Column;
import org.gramian.run.table.ResultTable.Line;
import org.gramian.run.table.RowOutcome;
import org.gramian.run.table.TableCell;

/** CSV: one line per method and dataset, accuracies from 0 to 1 in full precision, unknown fields empty. */
final class CsvTable {
    private CsvTable() {}

    static String of(TableReport report) {
        List<Map<String, String>> records = new ArrayList<>();
        for (Line line : report.table().lines()) {
            for (int i = 0; i < report.table().columns().size(); i++) {
                records.add(fields(report, line, i));
            }
        }
        StringWriter text = new StringWriter();
        CsvWriter csv = CsvWriter.builder().lineDelimiter(LineDelimiter.LF).build(text);
        csv.writeRecord(records.getFirst().keySet());
        records.forEach(one -> csv.writeRecord(CsvText.safe(one.values())));
        flush(csv);
        return text.toString();
    }

    private static void flush(CsvWriter csv) {
        try {
            csv.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> fields(TableReport report, Line line, int index) {
        TableCell cell = line.cells().get(index);
        Column column = report.table().columns().get(index);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("row", line.name());
        fields.put("title", line.title());
        fields.put("data_set", column.title());
        fields.put("status", status(report, cell.outcome()));
        fields.put("folds", Integer.toString(column.folds()));
        spread(fields, "accuracy", cell.numbers().map(TableCell.Numbers::accuracy));
        spread(fields, "stage1_accuracy", cell.numbers().flatMap(TableCell.Numbers::afterFirst));
        fields.put(
                "best",
                cell.numbers().map(some -> Boolean.toString(some.best())).orElse(""));
        fields.put("baseline", report.table().baseline());
        test(fields, cell.numbers().flatMap(TableCell.Numbers::against));
        fields.put(
                "descriptor",
                cell.size().map(size -> Long.toString(size.descriptor())).orElse(""));
        fields.put(
                "parameters",
                cell.size().map(size -> Long.toString(size.parameters())).orElse(""));
        fields.put("seconds_per_epoch", number(cell.secondsPerEpoch()));
        fields.put("paper_vgg16", cell.published().orElse(""));
        fields.put("fingerprint", column.fingerprint());
        fields.put("command", report.command());
        fields.put("configuration", String.join("; ", report.configuration()));
        return fields;
    }

    /** Returns the state and its reason, if any. */
    static String status(TableReport report, RowOutcome outcome) {
        return switch (outcome) {
            case RowOutcome.Finished _ -> "finished";
            case RowOutcome.Unfinished unfinished ->
                "not trained yet: " + unfinished.done() + " of " + unfinished.all() + " folds";
            case RowOutcome.Failed failed -> "not trained: " + report.wording().apply(failed.cause());
        };
    }

    private static void spread(Map<String, String> fields, String name, Optional<Spread> spread) {
        fields.put(
                name + "_mean", spread.map(one -> Double.toString(one.mean())).orElse(""));
        fields.put(name + "_std", spread.map(one -> number(one.deviation())).orElse(""));
    }

    private static void test(Map<String, String> fields, Optional<Comparison> against) {
        Map<String, Function<Comparison, Object>> numbers = new LinkedHashMap<>();
        numbers.put("difference", one -> one.test().difference());
        numbers.put("difference_low", one -> one.test().differenceInterval().low());
        numbers.put("difference_high", one -> one.test().differenceInterval().high());
        numbers.put("p_exact", one -> one.test().exactP());
        numbers.put("images", one -> one.test().images());
        numbers.put("only_this_right", one -> one.test().onlyFirst());
        numbers.put("only_baseline_right", one -> one.test().onlySecond());
        numbers.put("repeated", Comparison::repeated);
        numbers.forEach((name, number) ->
                fields.put(name, against.map(number).map(Object::toString).orElse("")));
    }

    private static String number(OptionalDouble value) {
        return value.isPresent() ? Double.toString(value.getAsDouble()) : "";
    }
}
