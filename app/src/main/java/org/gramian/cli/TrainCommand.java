package org.gramian.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.gramian.backbone.weights.PublicFile;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.run.FoldResult;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult;
import org.gramian.run.StageResult;
import org.gramian.run.Trainer;
import org.gramian.run.Workshop;
import org.gramian.run.config.BackboneRanking;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Quality;
import org.gramian.run.config.Setting;
import org.gramian.run.config.Settings;
import org.gramian.run.plan.Estimate;
import org.gramian.tensor.Device;
import org.gramian.tensor.GpuMath;
import org.gramian.tensor.Libtorch;
import org.gramian.train.loop.Breaks;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.Keeper;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian train}: from a folder of pictures to a model and numbers that can be trusted. */
@Command(
        name = "train",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        header = "From a folder of images to a model and numbers that can be trusted.",
        description = {
            "Looks at all images, chooses what was left open, trains the new layers on features of a frozen network",
            "(stage 1), then all layers (stage 2), and measures on images that played no part in it. The run's folder",
            "gets model.safetensors, evaluation.json, predictions.csv, confusion.csv, history.csv, curves.png,",
            "report.html to look at with what it shows (audit.json, gallery.safetensors, spd.json), and config.yaml, which",
            "tells where each value came from. A run that was broken goes on by --resume."
        })
final class TrainCommand implements Callable<Integer> {
    /** Fewer training images of a class than this leave most to be gained by more of them. */
    private static final int FEW_PER_CLASS = 30;

    @Mixin
    private final Console console = new Console();

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "DIR",
            description = "a folder of images, or a CSV file that lists them")
    private @Nullable Path pictures;

    @Option(names = "--out", paramLabel = "RUN", description = "the run's folder (default: runs/<date>-<name>)")
    private @Nullable Path out;

    @Option(names = "--resume", paramLabel = "RUN", description = "go on with a run that was broken")
    private @Nullable Path resumed;

    @Option(
            names = "--fold",
            paramLabel = "FOLD",
            split = ",",
            description = {
                "train only these folds of the protocol, by number from 1 on or by name (default: all; with --resume, those",
                "that the run was begun with)"
            })
    private List<String> folds = List.of();

    @Option(names = "--dry-run", description = "show configuration, sizes and an estimate of the time; train nothing")
    private boolean dry;

    @Option(
            names = "--time-budget",
            paramLabel = "TIME",
            converter = Durations.class,
            description = {
                "time for the whole run, as 30m or 1h30m: training ends early enough to test and report the best model so far"
            })
    private @Nullable Duration budget;

    @Option(
            names = "--keep-every",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "how much work may be lost when the machine fails (default: 1m)")
    private Duration keepEvery = Keeper.DEFAULT_INTERVAL;

    @Option(
            names = "--decode-threads",
            paramLabel = "N",
            description = "images to decode at the same time (default: all cores)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(names = "--no-report", description = "do not write report.html into the run's folder")
    private boolean noReport;

    @Option(names = "--deterministic", description = "the same bits in every run on a GPU, too; slower")
    private boolean deterministic;

    @Mixin
    private final TrainOptions options = new TrainOptions();

    @Mixin
    private final CacheOptions caching = new CacheOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Breaks breaks = budget == null ? Breaks.whenAsked() : Breaks.after(budget);
        caching.check();
        RunFolder folder = folder();
        Settings asked = resumed == null ? options.asked() : folder.settings();
        Dataset dataset = dataset(asked, folder);
        dataset.notes().stream()
                .filter(note -> note.kind() != Note.Kind.EMPTY_CLASSES) // which training refuses
                .forEach(note -> console.say(note.text()));
        Device device = torch.prepare();
        if (deterministic) {
            Libtorch.load().setMath(GpuMath.EXACT);
        }
        Workshop workshop = new Workshop(device, options.store(), caching.root(), threads);
        try (TrainDisplay display = new TrainDisplay(console)) {
            Trainer trainer = new Trainer(dataset, asked, workshop, new Trainer.Control(display, breaks, keepEvery));
            if (dry) { // nothing to keep: the system's answer to Ctrl-C is the right one
                RunPlan plan = plan(trainer, trainer.audit(), folder);
                return show(trainer, plan, trainer.estimate(plan));
            }
            try (Interruption interruption = new Interruption(breaks, console::say)) {
                return planAndTrain(trainer, display, folder, interruption);
            } catch (InterruptedTrainingException stopped) {
                console.say("stopped as asked, before anything was trained; "
                        + (resumed == null ? "begin again" : "go on by: " + goOn(folder)));
                return Main.INTERRUPTED;
            }
        }
    }

    private RunPlan plan(Trainer trainer, AuditReport audit, RunFolder folder) throws IOException {
        RunPlan whole = trainer.plan(audit);
        RunPlan plan = folds.isEmpty() ? folder.rest(whole) : whole.only(folds);
        console.say(
                resumed == null
                        ? chosen(plan.settings())
                        : "going on with " + resumed + "; pooling "
                                + plan.settings().get(Keys.POOLING));
        return plan;
    }

    /** @throws InterruptedTrainingException if it is asked to stop before training */
    private int planAndTrain(Trainer trainer, TrainDisplay display, RunFolder folder, Interruption interruption)
            throws IOException, InterruptedException {
        AuditReport audit = trainer.audit();
        RunPlan plan = plan(trainer, audit, folder);
        Estimate estimate = trainer.estimate(plan);
        trainer.control().breaks().due().filter(Breaks.Reason.ASKED::equals).ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        display.expect(estimate, plan.folds().size());
        Duration reserved = trainer.control().breaks().reserve(estimate.ending());
        if (budget != null) {
            console.say("time budget: " + PlanText.duration(budget) + ", of which "
                    + PlanText.duration(reserved) + " are kept for test and report"
                    + (budget.compareTo(estimate.features().plus(reserved)) < 0
                            ? "; features take about " + PlanText.duration(estimate.features())
                                    + " unless they are cached: there may be no model at its end"
                            : ""));
        }
        if (resumed == null) {
            console.say("about " + PlanText.duration(estimate.total()) + PlanText.condition(plan.config())
                    + " (a guess from one small batch)");
            console.say("memory: about " + trainer.memory(plan).text());
        }
        interruption.keeps(keepEvery);
        int code = train(trainer, plan, audit, folder);
        if (resumed != null && !display.trained()) {
            console.say("this run was at its end already");
        }
        return code;
    }

    private static String goOn(RunFolder folder) {
        return CommandHint.of("train", "--resume", folder.path());
    }

    private RunFolder folder() throws IOException {
        if (budget != null && budget.isZero()) {
            throw new IllegalArgumentException("--time-budget: expected a time above 0, found 0s");
        }
        if (resumed != null) {
            requireNothingNew(resumed);
            return RunFolder.of(resumed);
        }
        if (pictures == null) {
            throw new IllegalArgumentException("expected DIR, a folder of images, or --resume RUN; try '"
                    + CommandHint.of("train", "--help") + "'");
        }
        if (out == null) {
            return RunFolder.usual(pictures);
        }
        return dry ? new RunFolder(out) : RunFolder.fresh(out);
    }

    /** A run goes on as it was begun: what would change it is named, with the way to a run that has it. */
    private void requireNothingNew(Path run) {
        List<String> typed = new ArrayList<>(options.typed());
        if (out != null) {
            typed.add("--out");
        }
        if (dry) {
            typed.add("--dry-run");
        }
        if (!typed.isEmpty()) {
            throw new IllegalArgumentException(
                    "--resume goes on with the run's own configuration and folder: leave out "
                            + String.join(", ", typed) + ", or begin a new run: "
                            + CommandHint.of("train", "DIR", "--config", run.resolve("config.yaml"))
                            + " and what is to be different");
        }
    }

    private Dataset dataset(Settings asked, RunFolder folder) throws IOException {
        Path place = pictures == null ? folder.pictures() : pictures;
        return Layouts.open(place, asked.find(Keys.LAYOUT));
    }

    /** The choice that matters most, and why. */
    private static String chosen(Settings settings) {
        Setting backbone = Objects.requireNonNull(settings.values().get(Keys.BACKBONE.name()));
        return "backbone " + settings.get(Keys.BACKBONE) + ", layer " + settings.get(Keys.LAYER) + " ("
                + backbone.origin().text() + "); pooling " + settings.get(Keys.POOLING)
                + settings.get(Keys.CLASSIFIER)
                        .map(solver -> "; classifier " + solver.text())
                        .orElse("");
    }

    private int show(Trainer trainer, RunPlan plan, Estimate estimate) {
        console.out().print(PlanText.configuration(plan.settings()));
        console.out().print(PlanText.work(trainer.workload(plan), trainer.memory(plan), Optional.of(estimate)));
        console.out().flush();
        return Main.DONE;
    }

    private int train(Trainer trainer, RunPlan plan, AuditReport audit, RunFolder folder) throws IOException {
        if (resumed == null) {
            folder.begin(pictures == null ? folder.pictures() : pictures);
        }
        console.say("the run is kept in " + folder.path());
        RunResult result;
        try {
            result = trainer.train(plan, audit, folder.path());
        } catch (UncheckedIOException failed) {
            throw broken(Objects.requireNonNull(failed.getCause()), folder);
        } catch (IOException failed) {
            throw broken(failed, folder);
        }
        if (!result.folds().isEmpty()) {
            TrainSummary summary = new TrainSummary(result, plan.folds().size(), folder);
            console.out().print(summary.text());
            console.out().flush();
            summary.write(console::say);
            if (!noReport) {
                summary.report(console::say);
            }
            if (result.early().isEmpty()) {
                moreEpochs(result).forEach(console::say);
                advice(plan, trainer.workshop()).ifPresent(console::say);
            }
        }
        if (result.early().isPresent()) {
            console.say(
                    switch (result.early().get()) {
                        case ASKED -> "stopped as asked; go on by: " + goOn(folder);
                        case OUT_OF_TIME ->
                            "the time is used up" + (result.folds().isEmpty() ? " before there was a model" : "")
                                    + "; to train further: " + goOn(folder);
                    });
        }
        if (result.early().filter(Breaks.Reason.ASKED::equals).isPresent()
                || (result.early().isPresent() && result.folds().isEmpty())) {
            return Main.INTERRUPTED;
        }
        return audit.unreadable().isEmpty() ? Main.DONE : Main.DATA;
    }

    /** Stages that were still improving at their last epoch, each by the fold in which it improved most. */
    private static List<String> moreEpochs(RunResult result) throws IOException {
        List<StageResult> stages = new ArrayList<>();
        for (FoldResult fold : result.folds()) {
            stages.addAll(StageResult.read(fold.folder()));
        }
        return IntStream.rangeClosed(1, 2)
                .mapToObj(stage -> stages.stream()
                        .filter(one -> one.stage() == stage && one.improving().isPresent())
                        .max(Comparator.comparingDouble(
                                one -> one.improving().orElseThrow().share())))
                .flatMap(Optional::stream)
                .flatMap(one -> one.advice().stream())
                .map(text -> "next: " + text)
                .toList();
    }

    /** What would raise the accuracy most, by what the run had. */
    private static Optional<String> advice(RunPlan plan, Workshop workshop) throws IOException {
        int images = plan.folds().getFirst().parts().training().size();
        int perClass = images / plan.dataset().classes().size();
        if (plan.config().network().weights().isEmpty()) {
            return Optional.of("next: " + weights(workshop.weights()));
        }
        if (perClass < FEW_PER_CLASS) {
            return Optional.of(
                    "next: more images would help most; a class has " + perClass + " training images on average");
        }
        boolean frozen = plan.config().recipe().stage2().epochs() == 0;
        return frozen && workshop.device().kind() == Device.Kind.CPU && images >= Quality.FINE_TUNED_IMAGES
                ? Optional.of("next: fine-tuning on a GPU (--device cuda) would help; the backbone was frozen")
                : Optional.empty();
    }

    /** How to train with pretrained weights, after a run without. */
    private static String weights(WeightStore store) throws IOException {
        if (!store.names().isEmpty()) {
            return "this run used no pretrained weights; those of " + store.names().getFirst()
                    + " are installed: train with --backbone "
                    + store.names().getFirst().architecture();
        }
        PublicFile file = BackboneRanking.download();
        return "this run used no pretrained weights; get some with: " + CommandHint.of("weights", "get", file.name())
                + " (" + Math.round(file.mebibytes()) + " MiB), or from a file with: "
                + CommandHint.of("weights", "import", "FILE") + "; then train again";
    }

    /** What failed, and how to go on where something is kept. */
    private static IOException broken(IOException failed, RunFolder folder) throws IOException {
        return folder.hasCheckpoint() ? new BrokenRunException(failed, folder.path()) : failed;
    }
}
