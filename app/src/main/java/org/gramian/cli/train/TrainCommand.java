package org.gramian.cli.train;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.gramian.accelerate.Rule;
import org.gramian.cli.common.CacheOptions;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.ConsoleCommand;
import org.gramian.cli.common.Durations;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.PlanText;
import org.gramian.cli.common.TorchOptions;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Note;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.run.RunPlan;
import org.gramian.run.RunResult;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.run.TrainingRun;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.StageResult;
import org.gramian.train.loop.TrainingContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian train}: trains a model on a folder of images and tests it. */
@Command(
        name = "train",
        sortOptions = false,
        header = "Train a model on a folder of images and test it.",
        description = """
            Checks the images, trains a classifier on features of a frozen backbone, fine-tunes all layers if that pays
            off, and measures accuracy on the test set. The run folder gets the model (model.safetensors), report.html,
            evaluation.json, predictions.csv, confusion.csv, history.csv and config.yaml with the origin of every value.
            A folder of one class (or train/good and test/, or --good-only) trains a detector of anomalies.\
            """)
public final class TrainCommand extends ConsoleCommand {
    private static final String NO_REPORT = "--no-report";

    /** Options that do not change a resumed run. */
    private static final Set<String> WITH_RESUME = Set.of(
            ("--resume --fold --time-budget --no-report --keep-every --decode-threads --deterministic --cache-dir"
                            + " --no-cache --weights-dir --input --libtorch --device --threads --accelerate")
                    .split(" ", -1));

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "DIR",
            description = "folder of images, one subfolder per class, or a CSV file of path,label[,fold]")
    private @Nullable Path images;

    @Option(
            names = {"--out", "--output"},
            paramLabel = "RUN",
            description = "run folder (default: runs/<date>-<name>)")
    private @Nullable Path out;

    @Option(names = "--resume", paramLabel = "RUN", description = "resume an interrupted run from its checkpoint")
    private @Nullable Path resumed;

    @Option(
            names = "--labels",
            paramLabel = "LIST",
            description =
                    "labels that replace those of the images: a CSV file of path,label, e.g. the edited review.csv of a run")
    private @Nullable Path labels;

    @Option(
            names = "--fold",
            paramLabel = "FOLD",
            split = ",",
            description = {
                "train only these folds of the protocol, by number or name (default: all; with --resume, those of the"
                        + " run)"
            })
    private List<String> folds = List.of();

    @Option(names = "--dry-run", description = "show configuration and sizes; do not train")
    private boolean dry;

    @Option(
            names = "--time-budget",
            paramLabel = "TIME",
            converter = Durations.class,
            description =
                    "time for the whole run, e.g. 30s, 2m or 1h30m; uses as many images as fit, ends with a model")
    private @Nullable Duration budget;

    @Mixin
    private final ContextOptions training = new ContextOptions();

    @Mixin
    private final DetectorOptions detection = new DetectorOptions();

    @Option(names = NO_REPORT, description = "do not write report.html")
    private boolean noReport;

    @Mixin
    private final TrainOptions options = new TrainOptions();

    @Mixin
    private final CacheOptions caching = new CacheOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Cancellation cancellation = budget == null ? Cancellation.onRequest() : Cancellation.after(budget);
        caching.check();
        RunFolder folder = folder();
        if (resumed != null) { // another cache may hold features of other last bits
            List<String> begun = folder.options();
            caching.resume(begun);
            noReport |= begun.contains(NO_REPORT);
        }
        Path place = images;
        if (resumed == null && place != null) {
            Optional<DetectorOptions.Source> source = detection.source(place, console.typed(Set.of()));
            if (source.isPresent()) {
                return detector(place, source.get(), folder);
            }
        }
        Settings requested = resumed == null
                ? options.requested(torch, console::say)
                : folder.run().settings();
        requested.find(TrainConfig.ACCELERATE).ifPresent(Rule::use);
        Dataset dataset = dataset(requested, folder);
        dataset.notes().stream()
                .filter(note -> note.kind() != Note.Kind.EMPTY_CLASSES) // training rejects those
                .forEach(note -> console.say(note.text()));
        Device device = training.prepare(torch);
        try (TrainDisplay display = new TrainDisplay(console)) {
            TrainingContext context = training.context(device, display, cancellation);
            TrainingRun trainer = new TrainingRun(dataset, requested, options.store(), caching.root(), context);
            if (dry) { // nothing to save: Ctrl-C may end the process at once
                return show(trainer, plan(trainer, trainer.audit(), folder));
            }
            try (Interruption interruption = new Interruption(cancellation, console::warn)) {
                return planAndTrain(trainer, display, folder, interruption);
            } catch (InterruptedTrainingException stopped) {
                console.warn(
                        folder.run().exists()
                                ? "interrupted; the first model stays; resume with: " + resume(folder)
                                : "interrupted before training began");
                return ExitCode.INTERRUPTED;
            }
        }
    }

    private int detector(Path place, DetectorOptions.Source source, RunFolder folder)
            throws IOException, InterruptedException {
        console.requireOnly(DetectorOptions.KNOWN, place + ": a detector of anomalies (" + source.reason() + ")");
        Settings settings = DefaultResolver.withBackbone(
                options.requested(torch, console::say), options.store().available());
        DetectorRun run = new DetectorRun(
                console,
                place,
                source,
                settings,
                detection.options(settings, training.threads()),
                options.store(),
                !noReport);
        return dry ? run.show() : run.train(folder, training.prepare(torch));
    }

    private RunPlan plan(TrainingRun trainer, AuditReport audit, RunFolder folder) throws IOException {
        RunPlan plan = selected(trainer.plan(audit), folder);
        console.say(
                resumed == null
                        ? chosen(plan)
                        : "resuming " + resumed + "; pooling " + plan.settings().get(TrainConfig.POOLING));
        return plan;
    }

    private RunPlan selected(RunPlan whole, RunFolder folder) throws IOException {
        return folds.isEmpty() ? folder.run().rest(whole) : whole.only(folds);
    }

    private int planAndTrain(TrainingRun whole, TrainDisplay display, RunFolder folder, Interruption interruption)
            throws IOException, InterruptedException {
        TrainingRun trainer = whole.begin(folder.path(), plan -> {
            RunPlan selected = selected(plan, folder);
            begin(folder);
            return selected;
        });
        AuditReport found = trainer.audit();
        // as in the run's first audit.json
        AuditReport audit = resumed == null
                ? found
                : folder.typedImages().map(found::withRoot).orElse(found);
        trainer.context().throwIfCancelled();
        RunPlan plan = plan(trainer, audit, folder);
        trainer.context().throwIfCancelled();
        if (resumed == null) {
            console.say("estimated memory " + trainer.memory(plan).text());
        }
        trainer.context().throwIfCancelled();
        interruption.keeps(training.keepEvery());
        return train(trainer, plan, audit, folder, display);
    }

    private static String resume(RunFolder folder) {
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
        if (images == null) {
            throw new IllegalArgumentException("expected DIR, a folder of images, or --resume RUN; try '"
                    + CommandHint.of("train", "--help") + "'");
        }
        if (out == null) {
            return RunFolder.defaultFor(images);
        }
        return dry ? new RunFolder(out) : RunFolder.fresh(out);
    }

    private void requireNothingNew(Path run) {
        List<String> typed = console.typed(WITH_RESUME);
        if (!typed.isEmpty()) {
            throw new IllegalArgumentException("--resume continues with the run's own configuration and folder: remove "
                    + String.join(", ", typed) + ", or start a new run with: "
                    + CommandHint.of("train", "DIR", "--config", run.resolve("config.yaml"))
                    + " and the changed options");
        }
    }

    private Dataset dataset(Settings requested, RunFolder folder) throws IOException {
        Optional<String> layout = requested.find(TrainConfig.LAYOUT);
        if (resumed != null) {
            return folder.dataset(images == null ? folder.images() : images, layout);
        }
        Dataset dataset = Layouts.open(Objects.requireNonNull(images), layout);
        return labels == null ? dataset : Layouts.relabelled(dataset, labels);
    }

    /** Returns backbone, pooling and classifier, and why this backbone. */
    private static String chosen(RunPlan plan) {
        Settings settings = plan.settings();
        Settings.Setting backbone = Objects.requireNonNull(settings.values().get("network.backbone"));
        return "backbone " + plan.config().network().backbone().name() + ", layer " + settings.get(TrainConfig.LAYER)
                + " ("
                + backbone.origin() + "); pooling " + settings.get(TrainConfig.POOLING)
                + settings.get(TrainConfig.CLASSIFIER)
                        .map(solver -> "; classifier " + solver.text())
                        .orElse("");
    }

    private int show(TrainingRun trainer, RunPlan plan) {
        console.out().print(PlanText.configuration(plan.settings()));
        console.print(PlanText.work(trainer.workload(plan), trainer.memory(plan)));
        return ExitCode.DONE;
    }

    private void begin(RunFolder folder) throws IOException {
        if (resumed == null) {
            List<String> kept = new ArrayList<>(caching.lines());
            if (noReport) {
                kept.add(NO_REPORT);
            }
            folder.begin(images == null ? folder.images() : images, kept);
            if (labels != null) {
                folder.keepLabels(labels);
            }
        }
    }

    private int train(TrainingRun trainer, RunPlan plan, AuditReport audit, RunFolder folder, TrainDisplay display)
            throws IOException {
        begin(folder);
        console.say("run folder: " + folder.path());
        RunResult result = folder.train(trainer, plan, audit);
        display.close(); // a bar would be drawn again below the messages
        if (!result.folds().isEmpty()) {
            new TrainSummary(result, plan.folds().size(), folder).publish(console, !noReport);
            if (result.early().isEmpty()) {
                moreEpochs(result).forEach(console::say);
            }
        }
        if (result.early().isPresent()) {
            console.warn(
                    switch (result.early().get()) {
                        case CANCELLED -> "interrupted; resume with: " + resume(folder);
                        case OUT_OF_TIME ->
                            "time budget used up" + (result.folds().isEmpty() ? ", no model yet" : "")
                                    + "; continue with: " + resume(folder);
                    });
        }
        if (result.early().filter(Cancellation.Reason.CANCELLED::equals).isPresent()
                || (result.early().isPresent() && result.folds().isEmpty())) {
            return ExitCode.INTERRUPTED;
        }
        return audit.unreadable().isEmpty() ? ExitCode.DONE : ExitCode.DATA;
    }

    /** Returns advice for stages that still improved at their last epoch, from the fold that improved most. */
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
                .map(text -> "tip: " + text)
                .toList();
    }
}
