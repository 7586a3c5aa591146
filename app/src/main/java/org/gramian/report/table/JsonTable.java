package org.gramian.report.table;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.JsonText;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary.Spread;
import org.gramian.evaluate.PairedTest;
import org.gramian.run.table.ResultTable.Column;
import org.gramian.run.table.ResultTable.Line;
import org.gramian.run.table.TableCell;

/** JSON: all numbers in full precision, accuracies from 0 to 1, unknown values omitted. */
final class JsonTable {
    private JsonTable() {}

    static String of(TableReport report) {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("format", "gramian-table");
        document.put("version", 1);
        document.put("command", report.command());
        document.put("machine", report.machine());
        document.put("baseline", report.table().baseline());
        document.put("common", report.table().common());
        document.put(
                "dataSets",
                report.table().columns().stream().map(JsonTable::column).toList());
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Line line : report.table().lines()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", line.name());
            row.put("title", line.title());
            row.put(
                    "results",
                    line.cells().stream().map(cell -> cell(report, cell)).toList());
            rows.add(row);
        }
        document.put("rows", rows);
        document.put("notes", report.notes());
        return JsonText.indented(document) + "\n";
    }

    private static Map<String, Object> column(Column column) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", column.name());
        fields.put("title", column.title());
        fields.put("fingerprint", column.fingerprint());
        fields.put("folds", column.folds());
        fields.put("settings", column.settings());
        return fields;
    }

    private static Map<String, Object> cell(TableReport report, TableCell cell) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("status", CsvTable.status(report, cell.outcome()));
        cell.numbers().ifPresent(numbers -> {
            fields.put("accuracy", spread(numbers.accuracy()));
            numbers.afterFirst().ifPresent(first -> fields.put("stage1Accuracy", spread(first)));
            fields.put("best", numbers.best());
            numbers.against().ifPresent(against -> fields.put("againstBaseline", test(against)));
        });
        cell.size().ifPresent(size -> {
            fields.put("descriptor", size.descriptor());
            fields.put("parameters", size.parameters());
        });
        cell.secondsPerEpoch().ifPresent(seconds -> fields.put("secondsPerEpoch", seconds));
        cell.published().ifPresent(figure -> fields.put("paperVgg16", figure));
        fields.put("settings", cell.own());
        return fields;
    }

    private static Map<String, Object> spread(Spread spread) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("mean", spread.mean());
        spread.deviation().ifPresent(deviation -> fields.put("deviation", deviation));
        return fields;
    }

    private static Map<String, Object> test(Comparison against) {
        PairedTest test = against.test();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("difference", test.difference());
        fields.put("differenceInterval95", test.differenceInterval());
        fields.put("exactP", test.exactP());
        fields.put("midP", test.midP());
        fields.put("images", test.images());
        fields.put("bothRight", test.bothRight());
        fields.put("onlyThis", test.onlyFirst());
        fields.put("onlyBaseline", test.onlySecond());
        fields.put("bothWrong", test.bothWrong());
        fields.put("repeated", against.repeated());
        return fields;
    }
}
