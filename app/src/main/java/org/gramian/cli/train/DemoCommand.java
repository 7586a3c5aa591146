package org.gramian.cli.train;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.gramian.backbone.weights.BundledWeights;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.AtomicFile;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.demo.TextureSet;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.compare.PairedTest;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.report.run.RunReport;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult;
import org.gramian.run.TrainingRun;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.HeadSearch;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code gramian demo}: average pooling against the selected pooling on synthetic images. */
@Command(
        name = "demo",
        sortOptions = false,
        header = "Show on synthetic images what second-order pooling is for.",
        description = """
                Draws synthetic images of six classes that show the same patterns and colours equally often and differ in
                which colour goes with which pattern. Trains average pooling and the pooling that train selects on the same
                features of the backbone gramian-s, compares both on the test set, and writes an HTML report. Needs no
                images, no weights and no internet. The same command resumes an interrupted demo.""")
public final class DemoCommand extends ConsoleCommand {
    /** Half of the images are test images. */
    private static final TextureSet DEFAULT = new TextureSet(60, 224, 0);

    private static final String MARK = "demo.txt";
    private static final String AVERAGE = "average";

    private final TextureSet size;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "DIR",
            defaultValue = "runs/demo",
            description = "output folder: new, empty, or of the same demo (default: ${DEFAULT-VALUE})")
    private Path out;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "0",
            description = "random seed of images, split and training (default: ${DEFAULT-VALUE})")
    private long seed;

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    public DemoCommand() {
        this(DEFAULT);
    }

    /** A demo with another number and size of images. */
    public DemoCommand(TextureSet size) {
        this.size = size;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        TextureSet textures = new TextureSet(size.images(), size.side(), seed);
        open(textures);
        Device device = torch.prepare();
        Cancellation breaks = Cancellation.onRequest();
        List<Evaluation> results;
        try (TrainDisplay display = new TrainDisplay(console);
                Interruption interruption = new Interruption(breaks, console::warn)) {
            draw(textures, breaks);
            interruption.keeps(Checkpointing.DEFAULT_INTERVAL);
            results = train(TrainingContext.of(device)
                    .withListener(event -> show(event, display))
                    .withCancellation(breaks));
        } catch (InterruptedTrainingException stopped) {
            console.warn("interrupted; resume with: " + console.line());
            return ExitCode.INTERRUPTED;
        }
        Path page = out.resolve(RunReport.FILE);
        RunReport.write(List.of(out.resolve(AVERAGE), out.resolve(HeadSearch.AUTO)), page, Version.number());
        summarize(results.getFirst(), results.getLast(), page);
        return ExitCode.DONE;
    }

    private Path images() {
        return out.resolve("images");
    }

    private void draw(TextureSet textures, Cancellation breaks) throws IOException {
        console.say("drawing %d synthetic images in %s: every class shows the same colours and the same patterns"
                .formatted(textures.size(), images()));
        console.say(
                "classes differ in which colour goes with which pattern, e.g. red-green-blue: red stripes, green dots,"
                        + " blue checks");
        try (Progress progress = console.progress("drawing images", textures.size())) {
            if (!textures.write(images(), progress, () -> breaks.reason().isPresent())) {
                throw new InterruptedTrainingException(Cancellation.Reason.CANCELLED);
            }
        }
    }

    /** Shows progress and warnings; the results follow at the end. */
    private void show(TrainEvent event, TrainDisplay display) {
        if (console.isJson() || event instanceof TrainEvent.Task || event instanceof TrainEvent.Warning) {
            display.accept(event);
        }
    }

    /** Trains with the selected pooling, then with average pooling of the same cached features; returns average pooling first. */
    private List<Evaluation> train(TrainingContext context) throws IOException, InterruptedException {
        Settings settings = Settings.NONE
                .with("data.protocol", Protocol.parse("holdout:0.5"))
                .with("network.backbone", BundledWeights.NAME)
                .with("network.weights", Optional.of(BundledWeights.NAME))
                .with("network.pooling", HeadSearch.AUTO)
                .with("seed", seed);
        TrainingRun trainer = TrainingRun.of(Layouts.open(images()))
                .with(WeightStore.ofProcess(), Optional.of(FeatureCache.defaultRoot()))
                .with(context)
                .with(settings);
        AuditReport audit = trainer.audit();
        RunPlan plan = trainer.plan(audit);
        TrainingRun average = trainer.with(settings.with("network.pooling", AVERAGE)
                .with("network.layer", plan.settings().get(TrainConfig.LAYER)));
        Evaluation auto = train(trainer, plan, audit, HeadSearch.AUTO);
        return List.of(train(average, average.plan(audit), audit, AVERAGE), auto);
    }

    private Evaluation train(TrainingRun trainer, RunPlan plan, AuditReport audit, String name) throws IOException {
        RunFolder run = new RunFolder(out.resolve(name));
        run.begin(images(), List.of());
        RunResult result = trainer.train(plan, audit, run.path());
        result.early().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        new TrainSummary(result, plan.folds().size(), run).write();
        return result.folds().getFirst().evaluation();
    }

    /** Prints both accuracies, the significance of their difference, the report and the commands for own images. */
    private void summarize(Evaluation average, Evaluation auto, Path page) throws IOException {
        PairedTest test = PairedTest.of(auto, average);
        console.out()
                .printf(
                        Locale.ROOT,
                        """
                        test accuracy on %d synthetic images (95 %% CI):
                          average pooling  %18s %%  the mean of every feature map
                          pooling auto     %18s %%  %s, selected on training images
                        auto minus average: %s
                        %s
                        report: %s
                        now your own images, one subfolder of DIR for each class:
                          %s
                          %s
                        """,
                        test.images(),
                        average.accuracy().text(),
                        auto.accuracy().text(),
                        HeadSearch.Result.read(out.resolve(HeadSearch.AUTO).resolve(HeadSearch.FILE))
                                .best()
                                .name(),
                        test.text(),
                        verdict(test),
                        page.toUri(),
                        CommandHint.of("train", "DIR", "--out", "run"),
                        CommandHint.of("predict", "run", "IMAGE"));
    }

    private static String verdict(PairedTest test) {
        if (test.exactP() >= 0.01) {
            return "not significant: p is not below 0.01";
        }
        return test.difference() > 0
                ? "significant: second order sees which colour goes with which pattern, averages do not"
                : "significant: average pooling is better on these images";
    }

    /**
     * Opens a new or empty folder, or that of the same demo to resume it; {@value #MARK} identifies the demo. A folder with other
     * content is never changed.
     */
    private void open(TextureSet textures) throws IOException {
        String wanted = "gramian demo, version 2%nseed %d%nimages %d of each class, %d x %d%n"
                .formatted(seed, textures.images(), textures.side(), textures.side());
        Path mark = out.resolve(MARK);
        if (Files.isRegularFile(mark)) {
            String found = Files.readString(mark, StandardCharsets.UTF_8);
            if (!found.equals(wanted)) {
                throw new IllegalArgumentException(
                        "%s: expected a new folder or the same demo, found another demo:%n%s%s"
                                .formatted(out, found.indent(2), "choose another folder with --out"));
            }
        } else {
            RunFolder.fresh(out);
        }
        Files.createDirectories(out);
        AtomicFile.putText(mark, text -> text.write(wanted));
    }
}
