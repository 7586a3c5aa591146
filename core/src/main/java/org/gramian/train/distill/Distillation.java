package org.gramian.train.distill;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.Weights;
import org.gramian.basis.Sha256;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.GpuMath;
import org.gramian.tensor.library.Libtorch;
import org.gramian.train.AdamWOptions;
import org.gramian.train.AveragedWeights;
import org.gramian.train.Optimizer;
import org.gramian.train.StiefelOptions;
import org.gramian.train.distill.DistillHistory.EpochRow;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;
import org.gramian.train.recipe.Recipe.Precision;
import org.jspecify.annotations.Nullable;

/**
 * A distillation run in a folder: {@code checkpoint.safetensors} while it lasts, {@code history.csv} with a row for each epoch, and at
 * the end {@code STUDENT.safetensors}, the averaged weights.
 *
 * <p>Called again after an interruption it resumes from its checkpoint, to the same bits on one machine if the length is given in
 * epochs. With a time budget the schedule follows the clock.
 *
 * @param student the network to train, cut at the layers to match; the teachers are cut at as many
 * @param start weights that the student starts from; empty for random ones
 * @param teachers at least one
 * @param images without labels
 * @param probe accuracy during training; null for none
 * @param options of training
 * @param folder of the run
 * @param context device, threads and cancellation; its checkpointing gives the interval
 * @param listener receives progress
 */
public record Distillation(
        Backbone student,
        Optional<Weights> start,
        List<Teacher> teachers,
        UnlabelledImages images,
        @Nullable LinearProbe probe,
        DistillOptions options,
        Path folder,
        TrainingContext context,
        Consumer<DistillEvent> listener) {
    /** Name of the history in the folder. */
    public static final String HISTORY = "history.csv";

    private static final String CHECKPOINT = "checkpoint.safetensors";

    /** Time of a budget that is kept for the last probe and for writing the weights. */
    private static final Duration ENDING = Duration.ofSeconds(15);

    /** A budget below which trials of algorithms do not pay off. */
    private static final Duration SHORT = Duration.ofMinutes(15);

    public Distillation {
        teachers = List.copyOf(teachers);
        if (teachers.isEmpty()) {
            throw new IllegalArgumentException("expected at least one teacher, found none");
        }
        for (Teacher teacher : teachers) {
            if (teacher.backbone().cutLayers().size() != student.cutLayers().size()) {
                throw new IllegalArgumentException("expected as many layers of the teacher " + teacher.name()
                        + " as of the student " + student + ": the first matches the first, and so on");
            }
        }
        student.features(options.imageSize(), options.imageSize());
        teachers.forEach(teacher -> teacher.backbone().features(options.teacherSize(), options.teacherSize()));
    }

    /**
     * Result of a run.
     *
     * @param weights the weight file; empty if the run was interrupted
     * @param epochs completed
     * @param probe last accuracy of the linear probe
     */
    public record Result(Optional<Path> weights, int epochs, OptionalDouble probe) {}

    /** Returns the file of the student's weights. */
    public Path weightFile() {
        return folder.resolve(student.name() + ".safetensors");
    }

    /** Returns whether a folder has a checkpoint to resume from. */
    public static boolean hasCheckpoint(Path folder) {
        return Files.exists(folder.resolve(CHECKPOINT));
    }

    /**
     * Trains, or resumes.
     *
     * @throws InterruptedTrainingException if cancelled before training began
     * @throws IOException if a file cannot be written, or the checkpoint is of another run
     */
    public Result run() throws IOException {
        Files.createDirectories(folder);
        Device device = context.device();
        long all = images.files().size();
        try (TrainingImages decoded = TrainingImages.read(
                images,
                options,
                device,
                context.threads(),
                folder,
                (file, reason) -> listener.accept(new DistillEvent.Skipped(file, reason)),
                done -> {
                    context.throwIfCancelled();
                    listener.accept(new DistillEvent.Preparing("decoding images", done, all));
                })) {
            if (decoded.count() < 2) {
                throw new IllegalArgumentException(
                        "expected at least 2 readable images, found " + decoded.count() + " of " + all);
            }
            GpuMath math = math();
            try (Student trained = new Student(student, start, teachers, options, device);
                    Optimizer optimizer = optimizer()) {
                return Libtorch.load().with(math, () -> {
                    try (DistillSteps steps =
                            new DistillSteps(trained, teachers, decoded, options, optimizer, device)) {
                        return new Loop(trained, decoded, optimizer, steps).run();
                    } catch (IOException failed) {
                        throw new UncheckedIOException(failed);
                    }
                });
            }
        }
    }

    /** Returns TF32 for all but float32, with trials of cuDNN's algorithms, which take about half a minute, if that pays off. */
    private GpuMath math() {
        GpuMath given = Libtorch.load().math();
        if (context.device().kind() != Device.Kind.CUDA || options.precision() == Precision.F32) {
            return given;
        }
        GpuMath fast = given.withTf32(true);
        boolean pays = context.cancellation()
                .remaining()
                .filter(time -> time.compareTo(SHORT) < 0)
                .isEmpty();
        return pays ? fast.withTrials() : fast;
    }

    private Optimizer optimizer() {
        AdamWOptions rule =
                new AdamWOptions(options.learningRate(), 0.9, 0.999, options.weightDecay(), StiefelOptions.defaults());
        return new Optimizer(rule, options.clip(), options.ema());
    }

    /** Returns what decides the course of training, by which a checkpoint is known. */
    private String identity(TrainingImages decoded) throws IOException {
        StringBuilder text = new StringBuilder();
        text.append(student).append('\n');
        start.ifPresent(
                weights -> text.append(weights.provenance().fingerprint()).append('\n'));
        teachers.forEach(teacher -> text.append(teacher.name())
                .append(' ')
                .append(teacher.fingerprint())
                .append('\n'));
        text.append(images.fingerprint()).append(' ').append(decoded.count()).append('\n');
        text.append(
                options.length().budget().isPresent()
                        ? "time"
                        : options.length().epochs() + " epochs");
        text.append('\n').append(about());
        return Sha256.hex(Sha256.of(text.toString().getBytes(StandardCharsets.UTF_8)));
    }

    /** Returns the options as text, without length. */
    private String about() {
        DistillOptions.Losses losses = options.losses();
        return String.format(
                Locale.ROOT,
                "features %s, grams %s%s, logits %s (temperature %s), %s; batch %d, image size %d, teacher size %d,"
                        + " learning rate %s, weight decay %s, warm-up %s, ema %s, clip %s, mixup %s, augmentation %s,"
                        + " precision %s, seed %d%s",
                losses.features(),
                losses.grams(),
                losses.cosine() ? " (cosine)" : "",
                losses.logits(),
                losses.temperature(),
                losses.squared() ? "squared" : "smooth-l1",
                options.batch(),
                options.imageSize(),
                options.teacherSize(),
                options.learningRate(),
                options.weightDecay(),
                options.warmup(),
                options.ema(),
                options.clip(),
                options.mixup(),
                options.augmentation().text(),
                options.precision().name().toLowerCase(Locale.ROOT),
                options.seed(),
                options.reuse() == 1 ? "" : ", reuse " + options.reuse());
    }

    /** The training loop with its state. */
    private final class Loop {
        private final Student trained;
        private final TrainingImages decoded;
        private final Optimizer optimizer;
        private final DistillSteps steps;
        private final DistillCheckpoint checkpoint;
        private final LongSupplier clock = System::nanoTime;
        private DistillProgress progress = DistillProgress.START;
        private double rate;
        private OptionalDouble speed = OptionalDouble.empty();
        private OptionalDouble accuracy = OptionalDouble.empty();

        Loop(Student trained, TrainingImages decoded, Optimizer optimizer, DistillSteps steps) throws IOException {
            this.trained = trained;
            this.decoded = decoded;
            this.optimizer = optimizer;
            this.steps = steps;
            this.checkpoint = new DistillCheckpoint(folder.resolve(CHECKPOINT), identity(decoded));
        }

        Result run() throws IOException {
            Optional<DistillProgress> found = checkpoint.restore(trained, optimizer, context.device());
            progress = found.orElse(DistillProgress.START);
            listener.accept(new DistillEvent.Started(
                    decoded.count(),
                    steps.count(),
                    decoded.batch(),
                    trained.network().parameterCount(),
                    progress.epoch(),
                    decoded.isResident()));
            if (found.isEmpty()) {
                steps.measureTargets();
            }
            context.cancellation().reserve(ENDING);
            while (!isDone()) {
                if (!epoch()) {
                    checkpoint.save(progress, trained, optimizer);
                    return new Result(Optional.empty(), progress.epoch(), accuracy);
                }
            }
            write();
            return new Result(Optional.of(weightFile()), progress.epoch(), accuracy);
        }

        private boolean isDone() {
            return position() >= 1;
        }

        /** Returns the share of training that is done: of the epochs, or of the time. */
        private double position() {
            return position(0);
        }

        private double position(int ahead) {
            Optional<Duration> left = context.cancellation().remaining();
            if (left.isPresent()) {
                double seconds = left.get().toMillis() / 1e3;
                return seconds <= 0 ? 1 : progress.seconds() / (progress.seconds() + seconds);
            }
            double epochs = progress.epoch() + (double) (progress.step() + ahead) / steps.count();
            return epochs / options.length().epochs();
        }

        /** Trains to the end of an epoch or of the time; returns false if it was cancelled. */
        private boolean epoch() throws IOException {
            steps.seek(progress.epoch(), progress.step());
            int warm = -1;
            double warmSeconds = 0;
            long saved = clock.getAsLong();
            try {
                while (progress.step() < steps.count() && !isDone()) {
                    if (context.cancellation()
                            .reason()
                            .filter(Cancellation.Reason.CANCELLED::equals)
                            .isPresent()) {
                        return false;
                    }
                    long start = clock.getAsLong();
                    DistillSteps.Taken taken = steps.take(ahead -> {
                        rate = options.learningRate(position(ahead));
                        return rate;
                    });
                    double took = (clock.getAsLong() - start) / 1e9;
                    progress = progress.stepped(taken, progress.seconds() + took);
                    if (warm < 0) { // kernels are compiled in the first steps
                        warm = progress.step();
                        warmSeconds = progress.seconds();
                    } else {
                        double seconds = progress.seconds() - warmSeconds;
                        speed = OptionalDouble.of((progress.step() - warm) * decoded.batch() / seconds);
                    }
                    listener.accept(stepped());
                    if (clock.getAsLong() - saved
                            >= context.checkpointing().interval().toNanos()) {
                        checkpoint.save(progress, trained, optimizer);
                        saved = clock.getAsLong();
                    }
                }
            } finally {
                steps.rest();
            }
            if (progress.step() > 0) { // else the time ended just before it
                finishEpoch();
            }
            return true;
        }

        private DistillEvent.Stepped stepped() {
            double position = position();
            Optional<Duration> left = context.cancellation().remaining();
            if (left.isEmpty() && speed.isPresent()) {
                double images =
                        ((double) (options.length().epochs() - progress.epoch()) * steps.count() - progress.step())
                                * decoded.batch();
                left = Optional.of(Duration.ofMillis(Math.round(1e3 * images / speed.getAsDouble())));
            }
            boolean timed = context.cancellation().remaining().isPresent();
            return new DistillEvent.Stepped(
                    progress.epoch() + 1,
                    timed ? Optional.empty() : Optional.of(options.length().epochs()),
                    progress.step(),
                    new DistillEvent.Losses(progress.mean(0), progress.mean(1), progress.mean(2), progress.mean(3)),
                    rate,
                    position,
                    speed,
                    left);
        }

        private void finishEpoch() throws IOException {
            DistillEvent.Stepped last = stepped();
            int number = progress.epoch() + 1;
            boolean whole = progress.step() == steps.count();
            boolean ends = !whole
                    || (context.cancellation().remaining().isEmpty()
                            ? number == options.length().epochs()
                            : isDone());
            boolean probed = probe != null && (ends || number % options.probeEvery() == 0);
            OptionalDouble measured = probed ? probed() : OptionalDouble.empty();
            accuracy = measured.isPresent() ? measured : accuracy;
            long seen = ((long) progress.epoch() * steps.count() + progress.step()) * decoded.batch();
            DistillEvent.Losses losses = last.losses();
            progress = progress.completed(new EpochRow(
                    number,
                    seen,
                    rate,
                    losses.total(),
                    losses.features(),
                    losses.grams(),
                    losses.logits(),
                    progress.seconds(),
                    measured.isPresent() ? measured.getAsDouble() : null));
            DistillHistory.write(folder.resolve(HISTORY), progress.history());
            listener.accept(new DistillEvent.EpochDone(last, measured));
            if (!ends) {
                checkpoint.save(progress, trained, optimizer);
            }
        }

        private OptionalDouble probed() {
            try (AveragedWeights _ =
                            new AveragedWeights(optimizer, trained.backbone().all());
                    Student.Averages _ = trained.withAverages()) {
                return probe == null ? OptionalDouble.empty() : probe.accuracy(trained);
            }
        }

        /** Writes the averaged weights and removes the checkpoint. */
        private void write() throws IOException {
            try (AveragedWeights _ =
                            new AveragedWeights(optimizer, trained.backbone().all());
                    Student.Averages _ = trained.withAverages()) {
                StudentFile.write(weightFile(), trained, DType.F32, metadata());
            }
            checkpoint.remove();
        }

        private Map<String, String> metadata() throws IOException {
            Map<String, String> about = new LinkedHashMap<>();
            about.put("distilled_layer", student.layer());
            start.ifPresent(weights ->
                    about.put("start_fingerprint", weights.provenance().fingerprint()));
            about.put(
                    "teachers",
                    String.join(", ", teachers.stream().map(Teacher::name).toList()));
            about.put(
                    "teacher_fingerprints",
                    String.join(
                            ", ", teachers.stream().map(Teacher::fingerprint).toList()));
            about.put("images", Integer.toString(decoded.count()));
            about.put("images_sha256", images.fingerprint());
            about.put("epochs", Integer.toString(progress.epoch()));
            about.put("steps", Long.toString(optimizer.steps()));
            about.put("training_seconds", Long.toString(Math.round(progress.seconds())));
            about.put("options", about());
            accuracy.ifPresent(value -> about.put("probe_accuracy", String.format(Locale.ROOT, "%.4f", value)));
            return about;
        }
    }
}
