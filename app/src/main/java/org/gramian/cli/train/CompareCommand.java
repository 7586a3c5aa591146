package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.cli.common.CacheOptions;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.EvaluationTable;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.TrainedModel;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.Comparison;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.report.ReportFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian compare}: compares models by a paired test, or trains a table of methods. */
@Command(
        name = "compare",
        sortOptions = false,
        header = "Compare models by McNemar's test, or train a table of methods.",
        description = """
                Compares results on the same test images: files of 'gramian evaluate --json', or run folders. McNemar's test
                compares the first with each of the others. Results on different images, labels or folds are rejected.

                With --methods or --preset, trains every method on the same splits and crops of each dataset and prints a
                table: accuracy (mean and standard deviation over folds), a paired test against a baseline, sizes and times.
                The folder gets one run per row and table.md, .csv and .json. The same command resumes it.""")
public final class CompareCommand extends ConsoleCommand {
    private static final Path STANDARD_OUTPUT = Path.of("-");

    /** Options that are no reason to refuse results. */
    private static final Set<String> NOT_FOR_TRAINING =
            Set.of("--json --cache-dir --no-cache --weights-dir --input --libtorch --device --threads --accelerate"
                    .split(" ", -1));

    @Option(names = "--json", paramLabel = "FILE", description = "also write JSON; '-' prints only that")
    private @Nullable Path json;

    @Parameters(
            arity = "0..*",
            paramLabel = "RESULT|DIR",
            description = "evaluation file or run folder, or dataset folder")
    private List<Path> paths = new ArrayList<>();

    @Mixin
    private final TableTraining table = new TableTraining();

    @Mixin
    private final TrainOptions training = new TrainOptions();

    @Mixin
    private final CacheOptions caching = new CacheOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        return table.wanted() ? train() : compareResults();
    }

    private int train() throws IOException, InterruptedException {
        if (json != null) {
            throw new IllegalArgumentException("--json applies to results only; the folder of a table has table.json");
        }
        if (paths.isEmpty()) {
            throw new IllegalArgumentException("expected DIR, one or several dataset folders, found none");
        }
        caching.check();
        return table.run(console, training, paths, torch, caching.root());
    }

    private int compareResults() throws IOException {
        List<String> typed = console.typed(NOT_FOR_TRAINING);
        if (!typed.isEmpty()) {
            throw new IllegalArgumentException("expected --methods or --preset with " + String.join(", ", typed)
                    + ", which apply to training only");
        }
        if (paths.size() < 2) {
            throw new IllegalArgumentException(
                    "expected at least two RESULTs (evaluation files or run folders), found " + paths.size()
                            + "; to train and compare methods: "
                            + CommandHint.of("compare", "DIR", "--methods", "average,bcnn"));
        }
        boolean printed = STANDARD_OUTPUT.equals(json);
        AtomicFile.require("--json", printed ? null : json, paths);
        for (Path path : paths) {
            TrainedModel.requireClassifier(path);
        }
        List<Evaluation> first = EvaluationFile.readAll(paths.getFirst());
        List<Comparison> comparisons = new ArrayList<>();
        for (Path other : paths.subList(1, paths.size())) {
            comparisons.add(compare(first, other));
        }
        int classes = first.getFirst().classes().size();
        ComparisonTable shown = new ComparisonTable(
                paths.stream().map(Path::toString).toList(), comparisons, EvaluationTable.metrics(classes));
        console.print(printed ? shown.json() : shown.text());
        if (json != null && !printed) {
            new ReportFile(json).write(shown.json());
        }
        return ExitCode.DONE;
    }

    private Comparison compare(List<Evaluation> first, Path other) throws IOException {
        List<Evaluation> second = EvaluationFile.readAll(other);
        try {
            return Comparison.of(first, second);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException(
                    paths.getFirst() + " and " + other + ": " + refused.getMessage(), refused);
        }
    }

    /** Comparisons of one model with others, as text for the terminal and as JSON. */
    private record ComparisonTable(List<String> names, List<Comparison> comparisons, List<Metric> metrics) {
        String text() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < names.size(); i++) {
                text.append("%s  %s%n".formatted(letter(i), QuotedText.visible(names.get(i))));
            }
            text.append(System.lineSeparator());
            text.append(numbers());
            text.append(System.lineSeparator());
            for (int i = 0; i < comparisons.size(); i++) {
                text.append(sentence(i)).append(System.lineSeparator());
            }
            text.append("p: probability of such a difference if both are equally accurate (McNemar's test)");
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
                List<String> cells = new ArrayList<>(List.of(EvaluationTable.name(metric)));
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
                FoldSummary.Spread spread = summary.spread(metric);
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
            pair.put("images", test.images());
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
}
