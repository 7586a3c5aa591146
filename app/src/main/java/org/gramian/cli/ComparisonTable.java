package org.gramian.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.FoldSummary;
import org.gramian.evaluate.Metric;
import org.gramian.evaluate.PairedTest;
import org.gramian.evaluate.FoldSummary.Spread;

/**
 * Comparisons of one model with others, as text for the terminal and as JSON.
 *
 * @param names what the models are called, one more than there are comparisons
 * @param comparisons of the first with each of the others
 * @param metrics the numbers that the text shows
 */
record ComparisonTable(List<String> names, List<Comparison> comparisons, List<Metric> metrics) {
    private static final String LUCK = "p: probability of such a difference by chance (McNemar's test)";

    String text() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < names.size(); i++) {
            text.append(letter(i))
                    .append("  ")
                    .append(QuotedText.visible(names.get(i)))
                    .append(System.lineSeparator());
        }
        text.append(System.lineSeparator());
        numbers().appendTo(text);
        text.append(System.lineSeparator());
        for (int i = 0; i < comparisons.size(); i++) {
            text.append(sentence(i)).append(System.lineSeparator());
        }
        text.append(LUCK);
        if (comparisons.size() > 1) {
            text.append("; with several comparisons, require p < 0.05 / ").append(comparisons.size());
        }
        return text.append(System.lineSeparator()).toString();
    }

    private Columns numbers() {
        int folds = summaries().getFirst().spread(Metric.ACCURACY).count();
        List<String> head = new ArrayList<>(List.of(folds == 1 ? "" : "mean ± std of " + folds + " folds"));
        for (int i = 0; i < names.size(); i++) {
            head.add(letter(i));
        }
        Columns rows = new Columns().row(head);
        for (Metric metric : metrics) {
            List<String> cells = new ArrayList<>(List.of(FoldTable.name(metric)));
            summaries().forEach(summary -> cells.add(summary.text(metric)));
            rows.row(cells);
        }
        return rows;
    }

    private List<FoldSummary> summaries() {
        return Stream.concat(
                        Stream.of(comparisons.getFirst().first()),
                        comparisons.stream().map(Comparison::second))
                .toList();
    }

    private String sentence(int index) {
        Comparison comparison = comparisons.get(index);
        String repeated = comparison.repeated() == 0
                ? ""
                : "; %d of them occur in several folds, so that p is too small".formatted(comparison.repeated());
        return "%s minus %s: %s%s"
                .formatted(letter(0), letter(index + 1), comparison.test().text(), repeated);
    }

    private static String letter(int index) {
        return index < 26 ? Character.toString('A' + index) : "R" + (index + 1);
    }

    String json() {
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("format", "gramian-comparison");
        document.put("version", 1);
        List<Map<String, Object>> results = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            results.add(result(names.get(i), summaries().get(i)));
        }
        document.put("results", results);
        List<Map<String, Object>> pairs = new ArrayList<>();
        for (int i = 0; i < comparisons.size(); i++) {
            pairs.add(pair(names.get(i + 1), comparisons.get(i)));
        }
        document.put("comparisons", pairs);
        return JsonText.indented(document) + "\n";
    }

    private static Map<String, Object> result(String name, FoldSummary summary) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("name", name);
        result.put("folds", summary.spread(Metric.ACCURACY).count());
        for (Metric metric : Metric.values()) {
            Spread spread = summary.spread(metric);
            Map<String, Object> numbers = new LinkedHashMap<>();
            numbers.put("mean", spread.mean());
            OptionalDouble deviation = spread.deviation();
            deviation.ifPresent(value -> numbers.put("deviation", value));
            result.put(metric.key(), numbers);
        }
        return result;
    }

    private Map<String, Object> pair(String second, Comparison comparison) {
        PairedTest test = comparison.test();
        Map<String, Object> pair = new LinkedHashMap<>();
        pair.put("first", names.getFirst());
        pair.put("second", second);
        pair.put("pictures", test.images());
        pair.put("bothRight", test.bothRight());
        pair.put("onlyFirst", test.onlyFirst());
        pair.put("onlySecond", test.onlySecond());
        pair.put("bothWrong", test.bothWrong());
        pair.put("repeated", comparison.repeated());
        pair.put("difference", test.difference());
        pair.put("differenceInterval95", test.differenceInterval());
        pair.put("exactP", test.exactP());
        pair.put("midP", test.midP());
        return pair;
    }
}
