package org.gramian.cli.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.UnusableWeightsException;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.cli.common.CommandHint;
import org.gramian.cli.common.Console;
import org.gramian.cli.common.Durations;
import org.gramian.cli.common.ExitCode;
import org.gramian.cli.common.InputOptions;
import org.gramian.cli.common.Interruption;
import org.gramian.cli.common.Progress;
import org.gramian.cli.common.TorchOptions;
import org.gramian.cli.common.Version;
import org.gramian.image.augment.Augmentation;
import org.gramian.report.DistillPage;
import org.gramian.report.ReportFile;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.TensorFileException;
import org.gramian.train.distill.DistillHistory;
import org.gramian.train.distill.DistillOptions;
import org.gramian.train.distill.Distillation;
import org.gramian.train.distill.LinearProbe;
import org.gramian.train.distill.Teacher;
import org.gramian.train.distill.UnlabelledImages;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe.Precision;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code gramian distill}: trains a small backbone on unlabelled images to reproduce large ones. */
@Command(
        name = "distill",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        header = "Train a small backbone from large ones on unlabelled images.",
        description = {
            "The student learns to reproduce feature maps, Gram matrices and class scores of its teachers on the same",
            "augmented crops. OUT gets STUDENT.safetensors, which 'gramian weights import' and --weights read, history.csv",
            "and report.html. The same command resumes an interrupted run."
        })
public final class DistillCommand implements Callable<Integer> {
    /** Value of {@code --init} for a student without trained weights. */
    private static final String RANDOM = "random";

    @Mixin
    private final Console console = new Console();

    @Parameters(
            arity = "1..*",
            paramLabel = "IMAGES",
            description = "folders of images, read recursively, or tar files of images")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<Path> images;

    @Option(
            names = "--student",
            required = true,
            paramLabel = "NAME[:LAYERS]",
            description =
                    "backbone to train and its matched layers, as gramian-s:layer3+layer4 (default: the backbone's)")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String student;

    @Option(
            names = "--init",
            paramLabel = "WEIGHTS",
            description =
                    "weights to start from: a name, a file or random (default: the student's if installed, else random)")
    private @Nullable String init;

    @Option(
            names = "--teacher",
            required = true,
            paramLabel = "NAME[:LAYERS]",
            description = {
                "backbone with weights, or FILE.onnx, and its matched layers, as many as the student's (default: the"
                        + " backbone's); repeat it for several teachers"
            })
    @SuppressWarnings("NullAway.Init") // set by picocli
    private List<String> teachers;

    @Option(
            names = {"--out", "--output"},
            required = true,
            paramLabel = "OUT",
            description = "folder of the results")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private Path out;

    @Option(
            names = "--epochs",
            paramLabel = "N",
            defaultValue = "30",
            description = "number of epochs (default: ${DEFAULT-VALUE}); ignored with --time-budget")
    private int epochs;

    @Option(
            names = "--time-budget",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "time for the whole run, e.g. 20m or 2h: the learning rate schedule ends with it")
    private @Nullable Duration budget;

    @Option(
            names = "--stop-after",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "interrupt with a checkpoint after this time, as Ctrl-C does; the schedule is not changed")
    private @Nullable Duration stopAfter;

    @Option(
            names = {"--batch", "--batch-size"},
            paramLabel = "N",
            description = "batch size (default: 256 on a GPU, 32 on a CPU)")
    private @Nullable Integer batch;

    @Option(
            names = "--reuse",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "steps for each crop and what the teachers computed for it: with 4, a batch needs the teachers"
                            + " in one step of four (default: ${DEFAULT-VALUE})")
    private int reuse;

    @Option(
            names = "--image-size",
            paramLabel = "N",
            defaultValue = "160",
            description = "side of the student's images (default: ${DEFAULT-VALUE})")
    private int imageSize;

    @Option(
            names = "--teacher-size",
            paramLabel = "N",
            description = "side of the teachers' images, the same crops resampled (default: that of the student)")
    private @Nullable Integer teacherSize;

    @Option(
            names = {"--lr", "--learning-rate"},
            paramLabel = "RATE",
            defaultValue = "0.002",
            description = "highest learning rate of AdamW (default: ${DEFAULT-VALUE})")
    private double rate;

    @Option(
            names = "--weight-decay",
            paramLabel = "D",
            defaultValue = "0.05",
            description = "decoupled weight decay (default: ${DEFAULT-VALUE})")
    private double decay;

    @Option(
            names = "--warmup",
            paramLabel = "SHARE",
            defaultValue = "0.03",
            description = "share of training with a rising learning rate (default: ${DEFAULT-VALUE})")
    private double warmup;

    @Option(
            names = "--ema",
            paramLabel = "DECAY",
            defaultValue = "0.999",
            description = "decay of averaged weights, which are the result; 0: none (default: ${DEFAULT-VALUE})")
    private double ema;

    @Option(
            names = "--clip",
            paramLabel = "NORM",
            defaultValue = "5",
            description = "largest norm of the gradient; 0: no clipping (default: ${DEFAULT-VALUE})")
    private double clip;

    @Mixin
    private final LossOptions losses = new LossOptions();

    @Option(
            names = "--augment",
            paramLabel = "POLICY",
            defaultValue = "standard",
            description = "augmentation: none, light, standard or strong, with parts as in 'train'"
                    + " (default: ${DEFAULT-VALUE})")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String augment;

    @Option(
            names = "--mixup",
            paramLabel = "ALPHA",
            defaultValue = "0.2",
            description = "mixup of images that student and teachers see; 0: off (default: ${DEFAULT-VALUE})")
    private double mixup;

    @Option(
            names = "--precision",
            paramLabel = "TYPE",
            description = "f32, tf32 or bf16 (default: bf16 on a GPU, f32 on a CPU)")
    private @Nullable Precision precision;

    @Option(
            names = "--probe",
            paramLabel = "DIR",
            description = "labelled images, one folder per class: accuracy of a linear classifier during training")
    private @Nullable Path probe;

    @Option(
            names = "--probe-every",
            paramLabel = "N",
            defaultValue = "5",
            description = "epochs between two probes (default: ${DEFAULT-VALUE})")
    private int probeEvery;

    @Mixin
    private final ContextOptions training = new ContextOptions();

    @Option(names = "--seed", paramLabel = "N", defaultValue = "0", description = "random seed (default: 0)")
    private long seed;

    @Option(names = "--no-report", description = "do not write report.html")
    private boolean noReport;

    @Mixin
    private final InputOptions network = new InputOptions();

    @Mixin
    private final TorchOptions torch = new TorchOptions();

    @Override
    public Integer call() throws IOException {
        Cancellation cancellation = budget == null ? Cancellation.onRequest() : Cancellation.after(budget);
        if (budget != null && budget.isZero()) {
            throw new IllegalArgumentException("--time-budget: expected a time above 0, found 0s");
        }
        if (stopAfter != null) {
            Duration time = stopAfter;
            Thread.ofVirtual().name("gramian-stop").start(() -> cancelAfter(time, cancellation));
        }
        Backbone trained = studentBackbone();
        requireUnused();
        UnlabelledImages unlabelled = UnlabelledImages.of(images);
        console.say(unlabelled.files().size() + " images without labels");
        Device device = training.prepare(torch);
        DistillOptions options = options(device);
        List<Teacher> opened = new ArrayList<>();
        try (Interruption interruption = new Interruption(cancellation, console::warn);
                DistillDisplay display = new DistillDisplay(console)) {
            for (String teacher : teachers) {
                opened.add(teacher(teacher, device, options));
            }
            interruption.keeps(training.keepEvery());
            try (Arena arena = Arena.ofShared();
                    LinearProbe labelled = probe(trained, options, device)) {
                TrainingContext context = training.context(device, _ -> {}, cancellation);
                Optional<Weights> start = start(trained, arena);
                return report(
                        new Distillation(trained, start, opened, unlabelled, labelled, options, out, context, display));
            }
        } catch (InterruptedTrainingException stopped) {
            console.warn("interrupted before training began; start again with the same command");
            return ExitCode.INTERRUPTED;
        } finally {
            opened.forEach(Teacher::close);
        }
    }

    private static void cancelAfter(Duration time, Cancellation cancellation) {
        try {
            Thread.sleep(time);
            cancellation.cancel();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private int report(Distillation distillation) throws IOException {
        Distillation.Result result;
        try {
            result = distillation.run();
        } catch (UncheckedIOException failed) {
            throw Objects.requireNonNull(failed.getCause());
        }
        if (result.weights().isEmpty()) {
            console.warn("interrupted after " + result.epochs() + " epochs; resume with the same command");
            return ExitCode.INTERRUPTED;
        }
        Path file = result.weights().get();
        writeReport(distillation, file);
        console.out().println(file);
        console.out().flush();
        console.say("install it with: "
                + CommandHint.of("weights", "import", distillation.student().name(), file));
        return ExitCode.DONE;
    }

    private void writeReport(Distillation distillation, Path file) throws IOException {
        if (noReport) {
            return;
        }
        SequencedMap<String, String> facts = new LinkedHashMap<>();
        facts.put("file", String.valueOf(file.getFileName()));
        try (Arena arena = Arena.ofConfined()) {
            Safetensors.read(file, arena).metadata().entrySet().stream()
                    .filter(entry -> !entry.getKey().equals("format"))
                    .forEach(entry -> facts.put(entry.getKey().replace('_', ' '), entry.getValue()));
        }
        DistillPage page = new DistillPage(
                distillation.student().name(),
                DistillHistory.read(out.resolve(Distillation.HISTORY)),
                facts,
                Version.number());
        Path report = out.resolve("report.html");
        ReportFile.of(report).write(page.html());
        console.say("report: " + report);
    }

    /** Returns the student, cut at its matched layers. */
    private Backbone studentBackbone() {
        Backbone backbone = cut(network.store()::backbone, student);
        if (!backbone.about().weights().needed()) {
            throw new IllegalArgumentException(
                    "--student: expected a backbone with trained weights, found '" + backbone.name() + "'");
        }
        return backbone;
    }

    /** Returns the weights that the student starts from; empty for random ones. */
    private Optional<Weights> start(Backbone trained, Arena arena) throws IOException {
        WeightStore store = network.store();
        String from = init;
        if (from == null) {
            boolean installed =
                    store.available().stream().anyMatch(name -> name.text().equals(trained.name()));
            from = installed ? trained.name() : RANDOM;
        }
        console.say("student " + trained + ", " + trained.features(imageSize, imageSize) + ", "
                + (from.equals(RANDOM) ? "random weights" : "weights " + from));
        if (from.equals(RANDOM)) {
            return Optional.empty();
        }
        try {
            return Optional.of(store.find(trained, from, arena, console::say));
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }

    /** Parses {@code NAME[:LAYERS]}. */
    private static Backbone cut(Function<String, Backbone> names, String text) {
        int colon = text.indexOf(':');
        Backbone whole = names.apply(colon < 0 ? text : text.substring(0, colon));
        return colon < 0 ? whole : whole.cutAt(text.substring(colon + 1));
    }

    /** Refuses a folder with something else in it. */
    private void requireUnused() throws IOException {
        if (Files.isRegularFile(out)) {
            throw new IllegalArgumentException("--out: expected a folder, found the file " + out);
        }
        if (!Files.isDirectory(out) || Distillation.hasCheckpoint(out)) {
            return;
        }
        try (Stream<Path> inside = Files.list(out)) {
            if (inside.findAny().isPresent()) {
                throw new IllegalArgumentException(
                        "--out: expected a new folder, or one of an interrupted distillation,"
                                + " found other files in " + out);
            }
        }
    }

    private Teacher teacher(String text, Device device, DistillOptions options) throws IOException {
        int colon = text.indexOf(':');
        String name = network.resolve(colon < 0 ? text : text.substring(0, colon), console::say);
        WeightStore store = network.store();
        Backbone backbone = cut(store::backbone, colon < 0 ? name : name + text.substring(colon));
        if (!backbone.about().weights().needed()) {
            throw new IllegalArgumentException(
                    "--teacher: expected a backbone with trained weights, found '" + backbone.name() + "'");
        }
        Shape maps = backbone.features(options.teacherSize(), options.teacherSize());
        try (Arena arena = Arena.ofShared()) {
            Weights weights = store.find(backbone, name, arena, console::say);
            Teacher teacher = Teacher.of(backbone, weights, options.losses().logits() > 0, device);
            console.say("teacher " + teacher.name() + ", " + maps
                    + (teacher.classes() > 0 ? ", " + teacher.classes() + " class scores" : ", no class scores"));
            return teacher;
        } catch (IllegalArgumentException tooFew) {
            throw new UnusableWeightsException(tooFew);
        } catch (TensorFileException damaged) {
            throw new UnusableWeightsException(damaged);
        }
    }

    private @Nullable LinearProbe probe(Backbone trained, DistillOptions options, Device device) throws IOException {
        if (probe == null) {
            return null;
        }
        try (Progress progress = console.progress("decoding images of the probe", 0)) {
            LinearProbe opened =
                    LinearProbe.open(probe, trained, options.imageSize(), seed, device, training.threads(), progress);
            console.say("linear probe: " + opened.text());
            return opened;
        }
    }

    private DistillOptions options(Device device) {
        boolean gpu = device.kind() == Device.Kind.CUDA;
        return new DistillOptions(
                losses.weights(),
                new DistillOptions.Length(epochs, Optional.ofNullable(budget)),
                batch != null ? batch : gpu ? 256 : 32,
                reuse,
                imageSize,
                teacherSize != null ? teacherSize : imageSize,
                rate,
                decay,
                warmup,
                ema,
                clip,
                mixup,
                Augmentation.parse(augment.toLowerCase(Locale.ROOT)),
                precision != null ? precision : gpu ? Precision.BF16 : Precision.F32,
                probeEvery,
                seed);
    }
}
