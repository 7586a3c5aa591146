package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightName;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.cli.Main;
import org.gramian.cli.common.Columns;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.demo.DemoRecipe;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Interval;
import org.gramian.evaluate.PairedTest;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.report.run.RunReport;
import org.gramian.run.FoldResult;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult;
import org.gramian.run.TrainingRun;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code gramian demo}: first- and second-order pooling on synthetic textures. */
@Command(
        name = "demo",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        header = "Train and compare two models on synthetic textures; needs no data.",
        description = {
            "Needs no images, no weights and no internet. Draws synthetic images of ten textures, trains average"
                    + " pooling",
            "and the paper's second-order pooling on the same split, by default with a fixed filter bank, compares"
                    + " both",
            "on the test set, and writes an HTML report. The same command resumes an interrupted demo."
        })
public final class DemoCommand implements Callable<Integer> {
    private final DemoRecipe recipe;

    @Mixin
    private final Console console = new Console();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec spec;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "DIR",
            defaultValue = "runs/demo",
            description = "output folder: new, empty, or of the same demo (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path out;

    @Option(names = "--serve", description = "afterwards, serve the second model as a web page")
    private boolean serve;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "random seed of images, split and training (default: ${DEFAULT-VALUE})")
    private long seed;

    @Option(
            names = "--backbone",
            paramLabel = "NAME",
            description = "backbone of both models: filters or gramian-s (default: " + DemoRecipe.BACKBONE + ")")
    private @Nullable String backbone;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    public DemoCommand() {
        this(DemoRecipe.DEFAULT);
    }

    /** A demo of another size. */
    public DemoCommand(DemoRecipe recipe) {
        this.recipe = recipe;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        DemoRecipe wanted = (backbone == null ? recipe : recipe.with(backbone)).seeded(seed);
        if (Backbone.of(wanted.backbone()).about().weights().needed()) {
            WeightStore.ofProcess().provenance(WeightName.parse(wanted.backbone())); // fails before images are drawn
        }
        wanted.open(out);
        Device device = torch.prepare();
        Cancellation breaks = Cancellation.onRequest();
        List<FoldResult> results;
        try (TrainDisplay display = new TrainDisplay(console);
                Interruption interruption = new Interruption(breaks, console::warn)) {
            draw(wanted, breaks);
            interruption.keeps(Checkpointing.DEFAULT_INTERVAL);
            results = train(
                    wanted, TrainingContext.of(device).withListener(display).withCancellation(breaks), display);
        } catch (InterruptedTrainingException stopped) {
            Object[] typed =
                    spec.root().commandLine().getParseResult().originalArgs().toArray();
            console.warn("interrupted; resume with: " + CommandHint.of(typed));
            return ExitCode.INTERRUPTED;
        }
        List<Path> runs = wanted.entries().stream()
                .map(entry -> out.resolve(entry.name()))
                .toList();
        Path page = out.resolve(RunReport.FILE);
        RunReport.write(runs, page, Version.number());
        summarize(wanted, results, page);
        return serve
                ? Main.commandLine()
                        .setOut(spec.commandLine().getOut())
                        .setErr(spec.commandLine().getErr())
                        .execute("serve", results.getLast().model().toString())
                : ExitCode.DONE;
    }

    private Path images() {
        return out.resolve("textures");
    }

    private void draw(DemoRecipe wanted, Cancellation breaks) throws IOException {
        int all = wanted.textures().size();
        console.say("%d synthetic images in %s".formatted(all, images()));
        try (Progress progress = console.progress("drawing images", all)) {
            if (!wanted.textures()
                    .write(images(), progress, () -> breaks.reason().isPresent())) {
                throw new InterruptedTrainingException(Cancellation.Reason.CANCELLED);
            }
        }
    }

    private List<FoldResult> train(DemoRecipe wanted, TrainingContext context, TrainDisplay display)
            throws IOException, InterruptedException {
        TrainingRun trainer = TrainingRun.of(Layouts.open(images()))
                .with(WeightStore.ofProcess(), Optional.empty())
                .with(context);
        AuditReport audit =
                trainer.with(wanted.settings(wanted.entries().getFirst())).audit();
        List<FoldResult> results = new ArrayList<>();
        for (DemoRecipe.Entry entry : wanted.entries()) {
            TrainingRun one = trainer.with(wanted.settings(entry));
            RunPlan plan = one.plan(audit);
            console.say(entry.name() + ": " + entry.meaning());
            display.row(entry.name() + ", ");
            RunFolder run = new RunFolder(out.resolve(entry.name()));
            run.begin(images());
            RunResult result = one.train(plan, audit, run.path());
            result.early().ifPresent(reason -> {
                throw new InterruptedTrainingException(reason);
            });
            TrainSummary summary = new TrainSummary(result, plan.folds().size(), run);
            summary.write();
            summary.report(console::say);
            results.add(result.folds().getFirst());
        }
        return results;
    }

    /** Prints both accuracies, the significance of their difference, the report and the next commands. */
    private void summarize(DemoRecipe wanted, List<FoldResult> results, Path page) {
        Evaluation average = results.getFirst().evaluation();
        Evaluation secondOrder = results.getLast().evaluation();
        PairedTest test = PairedTest.of(secondOrder, average);
        Columns rows = new Columns();
        for (int i = 0; i < results.size(); i++) {
            rows.row(
                    wanted.entries().get(i).name(),
                    results.get(i).evaluation().accuracy().text() + " %");
        }
        StringBuilder accuracies = new StringBuilder();
        rows.appendTo(accuracies);
        Path model = results.getLast().model();
        Path image = images().resolve(secondOrder.predictions().getFirst().name());
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add("Test accuracy on " + average.predictions().size() + " images (95 % CI):");
        lines.add(accuracies.toString());
        lines.add("second-order minus average: " + test.text());
        lines.add(verdict(test));
        lines.add("");
        lines.add("Report: open " + page + " in a browser (" + page.toUri() + ")");
        lines.add("Try next:");
        lines.add("  " + CommandHint.of("predict", model, image));
        lines.add("  " + CommandHint.of("explain", model, image, out.resolve("explained.png")));
        if (!serve) {
            lines.add("  " + CommandHint.of("serve", model) + "   and drop images on its web page");
        }
        lines.add("  " + CommandHint.of("train", "DIR") + "   with one subfolder of images per class in DIR");
        lines.forEach(console.out()::println);
        console.out().flush();
    }

    private static String verdict(PairedTest test) {
        Interval difference = test.differenceInterval();
        if (difference.low() > 0) {
            return "Significant: second-order pooling is better on these textures.";
        }
        return difference.high() < 0
                ? "Significant: average pooling is better on these textures."
                : "Not significant: the confidence interval of the difference contains 0.";
    }
}
