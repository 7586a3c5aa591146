package org.gramian.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.EvaluationFolder;
import org.gramian.report.ReportFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian compare}: whether one model is better than another, or only luckier. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        header = "Whether one model is better than another.",
        description = {
            "Compares results on the same pictures: files of 'gramian evaluate --json', or folders of runs, whose folds are",
            "compared together. The first is held against each of the others by McNemar's test, which asks whether the",
            "pictures that only one of both got right could be split that way by chance. Results on other pictures, labels",
            "or folds are refused: their difference would say nothing about the models."
        })
final class CompareCommand implements Callable<Integer> {
    private static final Path STANDARD_OUTPUT = Path.of("-");

    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "also write the comparison as JSON; '-' prints it, and nothing else, to standard output")
    private @Nullable Path json;

    @Option(
            names = "--curves",
            paramLabel = "FILE",
            description = "also draw the accuracies of runs, epoch by epoch (of the first fold), as PNG")
    private @Nullable Path curves;

    @Parameters(arity = "2..*", paramLabel = "RESULT", description = "a file of an evaluation, or a run's folder")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<Path> results;

    @Override
    public Integer call() throws IOException {
        boolean printed = STANDARD_OUTPUT.equals(json);
        ReportFile file = json == null || printed ? null : ReportFile.of(json);
        List<Evaluation> first = EvaluationFolder.read(results.getFirst());
        List<Comparison> comparisons = new ArrayList<>();
        for (Path other : results.subList(1, results.size())) {
            comparisons.add(compare(first, other));
        }
        int classes = first.getFirst().classes().size();
        ComparisonTable table = new ComparisonTable(
                results.stream().map(Path::toString).toList(), comparisons, FoldTable.metrics(classes));
        console.out().print(printed ? table.json() : table.text());
        console.out().flush();
        if (file != null) {
            file.write(table.json());
        }
        if (curves != null) {
            RunCurves.of(results).write(curves);
        }
        return Main.DONE;
    }

    private Comparison compare(List<Evaluation> first, Path other) throws IOException {
        List<Evaluation> second = EvaluationFolder.read(other);
        try {
            return Comparison.of(first, second);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException(
                    results.getFirst() + " and " + other + ": " + refused.getMessage(), refused);
        }
    }
}
