package org.gramian.cli.train;

import org.gramian.cli.common.CacheOptions;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.TorchOptions;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.gramian.evaluate.Comparison;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.EvaluationFolder;
import org.gramian.report.ReportFile;
import org.gramian.report.table.TableFormat;
import org.gramian.run.table.PaperData;
import org.gramian.run.table.TablePreset;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gramian compare}: compares models by a paired test, or trains a table of methods. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        header = "Compare models by McNemar's test, or train a table of methods.",
        description = {
            "Compares results on the same test images: files of 'gramian evaluate --json', or run folders. McNemar's test",
            "compares the first with each of the others. Results on different images, labels or folds are rejected.",
            "",
            "With --methods or --preset, trains every method on the same splits and crops of each dataset and prints a",
            "table: accuracy (mean and standard deviation over folds), a paired test against a baseline, sizes and times.",
            "The folder gets one run per row and table.md, .csv, .tex, .html and .json. The same command resumes it."
        })
public final class CompareCommand implements Callable<Integer> {
    private static final Path STANDARD_OUTPUT = Path.of("-");

    @Mixin
    private final Console console = new Console();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "also write JSON; '-' prints only JSON to standard output")
    private @Nullable Path json;

    @Option(
            names = "--curves",
            paramLabel = "FILE",
            description = "also draw the accuracy per epoch (first fold) as PNG")
    private @Nullable Path curves;

    @Parameters(
            arity = "0..*",
            paramLabel = "RESULT|DIR",
            description = "evaluation file or run folder; for a table: dataset folder")
    private List<Path> places = new ArrayList<>();

    @Mixin
    private final TableOptions table = new TableOptions();

    @Mixin
    private final TrainOptions training = new TrainOptions();

    @Mixin
    private final CacheOptions caching = new CacheOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        return table.wanted() ? train() : compareResults();
    }

    private int train() throws IOException, InterruptedException {
        if (json != null || curves != null) {
            throw new IllegalArgumentException(
                    (json == null ? "--curves" : "--json") + " applies to results only; the folder of a table has "
                            + TableFormat.JSON.file() + " and all other formats");
        }
        if (places.isEmpty()) {
            table.preset().ifPresent(this::sayWhatThePaperHas);
            throw new IllegalArgumentException("expected DIR, one or several dataset folders, found none");
        }
        caching.check();
        Object[] typed =
                spec.root().commandLine().getParseResult().originalArgs().toArray();
        return new TableTraining(console, table, training, CommandHint.of(typed)).run(places, torch, caching.root());
    }

    private void sayWhatThePaperHas(TablePreset preset) {
        console.say(preset.meaning() + "; download its datasets from their authors and pass their folders as DIR:");
        for (PaperData one : PaperData.values()) {
            console.say("  " + one.title() + ", layout " + one.layout() + ": " + one.source());
        }
    }

    private int compareResults() throws IOException {
        List<String> typed = new ArrayList<>(table.typed());
        typed.addAll(training.typed());
        if (!typed.isEmpty()) {
            throw new IllegalArgumentException("expected --methods or --preset with " + String.join(", ", typed)
                    + ", which apply to training only");
        }
        if (places.size() < 2) {
            throw new IllegalArgumentException(
                    "expected at least two RESULTs (evaluation files or run folders), found " + places.size()
                            + "; to train and compare methods: "
                            + CommandHint.of("compare", "DIR", "--methods", "average,bcnn"));
        }
        return compare(places);
    }

    private int compare(List<Path> results) throws IOException {
        boolean printed = STANDARD_OUTPUT.equals(json);
        ReportFile file = json == null || printed ? null : ReportFile.of(json);
        List<Evaluation> first = EvaluationFolder.read(results.getFirst());
        List<Comparison> comparisons = new ArrayList<>();
        for (Path other : results.subList(1, results.size())) {
            comparisons.add(compare(first, other));
        }
        int classes = first.getFirst().classes().size();
        ComparisonTable shown = new ComparisonTable(
                results.stream().map(Path::toString).toList(), comparisons, FoldTable.metrics(classes));
        console.out().print(printed ? shown.json() : shown.text());
        console.out().flush();
        if (file != null) {
            file.write(shown.json());
        }
        if (curves != null) {
            RunCurves.of(results).write(curves);
        }
        return ExitCode.DONE;
    }

    private Comparison compare(List<Evaluation> first, Path other) throws IOException {
        List<Evaluation> second = EvaluationFolder.read(other);
        try {
            return Comparison.of(first, second);
        } catch (IllegalArgumentException refused) {
            throw new IllegalArgumentException(
                    places.getFirst() + " and " + other + ": " + refused.getMessage(), refused);
        }
    }
}
