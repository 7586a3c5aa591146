package org.gramian;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.gramian.accelerate.Rule;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.Interrupts;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.layout.Layouts;
import org.gramian.run.TrainingRun;
import org.gramian.run.config.ConfigFile;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.feature.FeatureCache;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.InterruptedTrainingException;
import org.gramian.train.loop.TrainingContext;

/**
 * Trains an image classifier on labelled images, evaluates it on a test set and writes model, metrics and history to a run folder.
 *
 * <pre>{@code
 * TrainingReport report = Trainer.on(Path.of("photos"))
 *         .pooling("bcnn")
 *         .seed(7)
 *         .listener(System.out::println)
 *         .train(Path.of("run"));
 * report.accuracy(); // on the test set
 * }</pre>
 *
 * <p>Every option that is not set gets the default of {@code gramian train}; docs/options.md lists all keys with their defaults. Training into the folder of an interrupted run resumes it, with the same
 * result as without the interruption unless a limit of time ended its training.
 *
 * @since 0.1
 */
public final class Trainer {
    private final Path place;
    private final Optional<Dataset> dataset;
    private Settings settings = Settings.NONE;
    private Optional<Path> weights = Optional.empty();
    private Optional<Path> cache = Optional.of(FeatureCache.defaultRoot());
    private Optional<Device> device = Optional.empty();
    private int threads = Runtime.getRuntime().availableProcessors();
    private Optional<Duration> budget = Optional.empty();
    private Consumer<TrainEvent> listener = _ -> {};
    private BooleanSupplier cancelled = () -> false;

    private Trainer(Path place, Optional<Dataset> dataset) {
        this.place = place;
        this.dataset = dataset;
    }

    /** Returns a trainer on a folder with one sub-folder per class, a CSV file, or a known dataset such as DTD. */
    public static Trainer on(Path images) {
        return new Trainer(images, Optional.empty());
    }

    /** Returns a trainer on a dataset. */
    public static Trainer on(Dataset dataset) {
        return new Trainer(dataset.root(), Optional.of(dataset));
    }

    /**
     * Sets an option.
     *
     * @param key of docs/options.md, for example {@code optimizer.weight-decay}
     * @throws IllegalArgumentException if the key is unknown or the value invalid
     */
    public Trainer set(String key, Object value) {
        settings = settings.with(key, value.toString());
        return this;
    }

    /** Sets the options of a YAML file such as the {@code config.yaml} of a run; options set before stay. */
    public Trainer config(Path yaml) {
        settings = settings.over(ConfigFile.read(yaml));
        return this;
    }

    /** Sets the backbone, for example {@code resnet50}. */
    public Trainer backbone(String name) {
        return set("network.backbone", name);
    }

    /** Sets the pooling: a method such as {@code isqrt} or a text such as {@code conv:256/covariance/isqrt:5/triu}. */
    public Trainer pooling(String text) {
        return set("network.pooling", text);
    }

    /** Sets the classifier, for example {@code svm} or {@code softmax}. */
    public Trainer classifier(String name) {
        return set("network.classifier", name);
    }

    /** Sets the train/test splits, for example {@code holdout:0.2} or {@code kfold:5}. */
    public Trainer protocol(String text) {
        return set("data.protocol", text);
    }

    /** Sets the epochs of the head on frozen features; with 0 the classifier is fitted by a solver. */
    public Trainer epochs(int epochs) {
        return set("stage1.epochs", epochs);
    }

    /** Sets the epochs of fine-tuning, in which all layers train. */
    public Trainer fineTune(int epochs) {
        return set("stage2.epochs", epochs);
    }

    /** Sets the learning rate of the head on frozen features. */
    public Trainer learningRate(double rate) {
        return set("stage1.rate", rate);
    }

    /** Sets the number of images of a step. */
    public Trainer batchSize(int images) {
        return set("optimizer.batch", images);
    }

    /** Sets how images are cropped, for example {@code resize:320}. */
    public Trainer crops(CropPlan plan) {
        return set("data.crops", plan.text());
    }

    /** Sets random changes of training images, for example {@code standard}, in {@linkplain #fineTune fine-tuning}. */
    public Trainer augment(String text) {
        return set("data.augment", text);
    }

    /** Sets the fraction of the training images on which training is validated; 0 for none. */
    public Trainer validation(double fraction) {
        return set("data.validation", fraction);
    }

    /** Sets the share of images of known classes that the model may call unknown; images of no class are then recognized. */
    public Trainer unknown(double rate) {
        return set("network.unknown", rate);
    }

    /** Sets the seed of splits, initialization, order and augmentation. */
    public Trainer seed(long seed) {
        return set("seed", seed);
    }

    /** Sets the device; by default a GPU if there is one. */
    public Trainer device(Device other) {
        device = Optional.of(other);
        return this;
    }

    /** Sets the number of threads that decode images; all cores by default. */
    public Trainer threads(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("threads: expected at least 1, found " + count);
        }
        threads = count;
        return this;
    }

    /** Sets the folder of pretrained weights; by default {@code $GRAMIAN_WEIGHTS} or that of {@code gramian weights}. */
    public Trainer weights(Path folder) {
        weights = Optional.of(folder);
        return this;
    }

    /** Removes cached features with the run; by default runs share them. */
    public Trainer withoutCache() {
        cache = Optional.empty();
        return this;
    }

    /** Stops training after a time, with the best model so far. */
    public Trainer maxTime(Duration time) {
        budget = Optional.of(time);
        return this;
    }

    /**
     * Sets the listener of progress. It receives one event at a time, from any thread, and should return soon; of a task that goes on,
     * one event per second.
     */
    public Trainer listener(Consumer<TrainEvent> other) {
        listener = other;
        return this;
    }

    /** Sets a condition that stops training with a checkpoint; it is checked at each progress event, so after each step. */
    public Trainer cancelWhen(BooleanSupplier condition) {
        cancelled = condition;
        return this;
    }

    /**
     * Trains into a new folder, or resumes an interrupted run of the same options and images.
     *
     * @param folder gets {@code model.safetensors}, {@code evaluation.json}, {@code predictions.csv}, {@code history.csv} and {@code
     *     config.yaml}; with several folds, sub-folders {@code fold-1}, {@code fold-2} and so on
     * @throws IllegalArgumentException if options contradict each other, or there are too few images or classes for them
     * @throws IOException if images or weights cannot be read, the folder holds another run, or another process trains into it
     * @throws InterruptedIOException if the thread is interrupted
     */
    public TrainingReport train(Path folder) throws IOException {
        return Interrupts.asIo("training", () -> train(folder, cancelled));
    }

    private TrainingReport train(Path folder, BooleanSupplier stop) throws IOException, InterruptedException {
        settings.find(TrainConfig.ACCELERATE).ifPresent(Rule::use);
        Dataset images = dataset.isPresent() ? dataset.get() : Layouts.open(place, settings.find(TrainConfig.LAYOUT));
        Cancellation cancellation = budget.map(Cancellation::after).orElseGet(Cancellation::onRequest);
        ShownTask shown = new ShownTask();
        AtomicReference<String> reached = new AtomicReference<>("nothing yet");
        TrainingContext context = TrainingContext.of(device.orElseGet(() -> Device.parse("auto")))
                .withThreads(threads)
                .withCancellation(cancellation)
                .withListener(event -> {
                    position(event).ifPresent(reached::set);
                    synchronized (shown) {
                        if (!(event instanceof TrainEvent.Task task) || shown.isDue(task)) {
                            listener.accept(event);
                        }
                    }
                    if (stop.getAsBoolean()) {
                        cancellation.cancel();
                    }
                });
        WeightStore store = weights.map(WeightStore::new).orElseGet(WeightStore::ofProcess);
        try {
            return TrainingReport.of(
                    folder,
                    new TrainingRun(images, settings, store, cache, context).train(folder),
                    Objects.requireNonNull(reached.get()));
        } catch (InterruptedTrainingException _) {
            return new TrainingReport(folder, List.of(), false, List.of(), Objects.requireNonNull(reached.get()));
        }
    }

    /**
     * Trains as {@link #train} does, on a thread of its own. Cancelling the future stops training with a checkpoint, from which another
     * call resumes; the future is done when the thread has ended, with the report of what was reached.
     */
    public CompletableFuture<TrainingReport> trainAsync(Path folder) {
        Training training = new Training();
        Thread.ofPlatform().name("gramian-train").start(() -> {
            try {
                training.complete(train(folder, () -> training.stopped || cancelled.getAsBoolean()));
            } catch (Exception | Error problem) {
                training.completeExceptionally(problem);
            }
        });
        return training;
    }

    /** A training whose cancellation is a request: there is a report in any case. */
    private static final class Training extends CompletableFuture<TrainingReport> {
        private volatile boolean stopped;

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            stopped = true;
            return !isDone();
        }
    }

    /** Returns where in the run an event is, for those that say it. */
    private static Optional<String> position(TrainEvent event) {
        return switch (event) {
            case TrainEvent.Task task -> Optional.of(task.name() + ", " + task.done() + " of " + task.total());
            case TrainEvent.EpochDone epoch -> Optional.of("stage " + epoch.stage() + ", epoch " + (epoch.epoch() + 1));
            case TrainEvent.FoldDone fold -> Optional.of("fold " + fold.number() + " of " + fold.folds());
            default -> Optional.empty();
        };
    }

    /** The task that a listener saw last. */
    private static final class ShownTask {
        private String name = "";
        private long time;

        boolean isDue(TrainEvent.Task task) {
            long now = System.nanoTime();
            boolean due = !task.name().equals(name) || now - time >= TimeUnit.SECONDS.toNanos(1);
            if (due) {
                name = task.name();
                time = now;
            }
            return due;
        }
    }
}
