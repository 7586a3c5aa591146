package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
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
import org.gramian.demo.DemoFolder;
import org.gramian.demo.DemoRecipe;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Interval;
import org.gramian.evaluate.PairedTest;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
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
            "Needs no images, no weights and no internet. Draws synthetic images of ten textures, trains average pooling",
            "and the paper's second-order pooling on the same split, by default with a fixed filter bank, compares both",
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
        requireWeights(wanted.backbone());
        DemoFolder folder = DemoFolder.open(out, wanted);
        Device device = torch.prepare();
        Cancellation breaks = Cancellation.onRequest();
        List<RunResult> results;
        try (TrainDisplay display = new TrainDisplay(console);
                Interruption interruption = new Interruption(breaks, console::warn)) {
            draw(wanted, folder, breaks);
            interruption.keeps(Checkpointing.DEFAULT_INTERVAL);
            results = train(new Stage(wanted, folder, device, breaks), display);
        } catch (InterruptedTrainingException stopped) {
            console.warn("interrupted; resume with: " + typed());
            return ExitCode.INTERRUPTED;
        }
        DemoSummary summary = new DemoSummary(wanted, folder, results);
        console.out().print(summary.text());
        console.out().flush();
        console.out().print(summary.report());
        console.out().print(summary.next(serve));
        console.out().flush();
        return serve ? served(summary.model()) : ExitCode.DONE;
    }

    /** Fails before images are drawn if the backbone is unknown or its weights are missing. */
    private static void requireWeights(String name) throws IOException {
        if (Backbone.of(name).about().weights().needed()) {
            WeightStore.ofProcess().provenance(WeightName.parse(name));
        }
    }

    /** Inputs of the training. */
    private record Stage(DemoRecipe recipe, DemoFolder folder, Device device, Cancellation breaks) {}

    private String typed() {
        return CommandHint.of(
                spec.root().commandLine().getParseResult().originalArgs().toArray());
    }

    private void draw(DemoRecipe wanted, DemoFolder folder, Cancellation breaks) throws IOException {
        int all = wanted.textures().size();
        console.say("%d synthetic images in %s".formatted(all, folder.images()));
        try (Progress progress = console.progress("drawing images", all)) {
            boolean complete = wanted.textures()
                    .write(folder.images(), progress, () -> breaks.reason().isPresent());
            if (!complete) {
                throw new InterruptedTrainingException(Cancellation.Reason.CANCELLED);
            }
        }
    }

    private List<RunResult> train(Stage stage, TrainDisplay display) throws IOException, InterruptedException {
        Dataset dataset = Layouts.open(stage.folder.images());
        TrainingRun trainer = TrainingRun.of(dataset)
                .with(WeightStore.ofProcess(), Optional.empty())
                .with(TrainingContext.of(stage.device).withListener(display).withCancellation(stage.breaks));
        List<DemoRecipe.Entry> entries = stage.recipe.entries();
        AuditReport audit =
                trainer.with(stage.recipe.settings(entries.getFirst())).audit();
        List<RunResult> results = new ArrayList<>();
        for (DemoRecipe.Entry entry : entries) {
            TrainingRun one = trainer.with(stage.recipe.settings(entry));
            RunPlan plan = one.plan(audit);
            console.say(entry.name() + ": " + entry.meaning());
            display.row(entry.name() + ", ");
            RunFolder run = new RunFolder(stage.folder.run(entry));
            run.begin(stage.folder.images());
            RunResult result = one.train(plan, audit, run.path());
            result.early().ifPresent(reason -> {
                throw new InterruptedTrainingException(reason);
            });
            TrainSummary summary = new TrainSummary(result, plan.folds().size(), run);
            summary.write();
            summary.report(console::say);
            results.add(result);
        }
        return results;
    }

    /** Runs {@code gramian serve}. */
    private int served(Path model) {
        return Main.commandLine()
                .setOut(spec.commandLine().getOut())
                .setErr(spec.commandLine().getErr())
                .execute("serve", model.toString());
    }

    /**
     * Summary of the demo: both accuracies, the significance of their difference, and the next commands.
     *
     * @param recipe trained entries
     * @param folder folder of the demo
     * @param results of its entries, in their order
     */
    private record DemoSummary(DemoRecipe recipe, DemoFolder folder, List<RunResult> results) {
        private static final String LINE = System.lineSeparator();

        String text() {
            Evaluation average = evaluation(0);
            Evaluation secondOrder = evaluation(1);
            Columns rows = new Columns();
            for (int i = 0; i < results.size(); i++) {
                rows.row(
                        recipe.entries().get(i).name(), evaluation(i).accuracy().text() + " %");
            }
            StringBuilder text = new StringBuilder(LINE);
            text.append("Test accuracy on ")
                    .append(average.predictions().size())
                    .append(" images (95 % CI):")
                    .append(LINE);
            rows.appendTo(text);
            PairedTest test = PairedTest.of(secondOrder, average);
            return text.append(LINE)
                    .append("second-order minus average: ")
                    .append(test.text())
                    .append(LINE)
                    .append(verdict(test))
                    .append(LINE)
                    .toString();
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

        private Evaluation evaluation(int index) {
            return fold(index).evaluation();
        }

        private FoldResult fold(int index) {
            return results.get(index).folds().getFirst();
        }

        /** Returns the model of the second entry. */
        Path model() {
            return fold(1).model();
        }

        /** Returns the next commands. */
        String next(boolean served) {
            Path image = folder.images()
                    .resolve(evaluation(1).predictions().getFirst().name());
            List<String> lines = new ArrayList<>(List.of("Try next:", CommandHint.of("predict", model(), image)));
            lines.add(CommandHint.of("explain", model(), image, folder.path().resolve("explained.png")));
            if (!served) {
                lines.add(CommandHint.of("serve", model()) + "   and drop images on its web page");
            }
            lines.add(CommandHint.of("train", "DIR") + "   with one subfolder of images per class in DIR");
            return lines.stream().collect(Collectors.joining(LINE + "  ", "", LINE));
        }

        /** Writes the report of both runs side by side, and returns how to open it. */
        String report() throws IOException {
            Path page = folder.path().resolve(RunReport.FILE);
            RunReport.write(recipe.entries().stream().map(folder::run).toList(), page, Version.number());
            return LINE + "Report: open " + page + " in a browser (" + page.toUri() + ")" + LINE;
        }
    }
}
