package org.gramian;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.gramian.anomaly.DetectorTraining;
import org.gramian.anomaly.evaluate.AnomalyDataset;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.backbone.weights.Weights;
import org.gramian.basis.AtomicFile;
import org.gramian.image.ImageSource;
import org.gramian.model.ModelFile;
import org.gramian.run.ExistingRun;
import org.gramian.run.config.DefaultResolver;
import org.gramian.run.config.Settings;
import org.gramian.run.config.TrainConfig;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;

/**
 * Trains a detector of anomalies on good images.
 *
 * <pre>{@code
 * try (Detector detector = DetectorTrainer.on(Path.of("good")).train(Path.of("run")).detector()) {
 *     detector.inspect(Path.of("part.png")).isAnomalous();
 * }
 * }</pre>
 *
 * @since 0.1
 */
public final class DetectorTrainer {
    private final List<Path> good;
    private List<Path> defects = List.of();
    private Settings settings = Settings.NONE;
    private DetectorTraining.Options options = new DetectorTraining.Options(
            DetectorTraining.Options.DEFAULT_SIDE,
            0,
            OptionalDouble.empty(),
            0,
            Runtime.getRuntime().availableProcessors());
    private Device device = Device.CPU;
    private Consumer<TrainEvent> listener = _ -> {};
    private BooleanSupplier cancelled = () -> false;

    private DetectorTrainer(List<Path> good) {
        this.good = good;
    }

    /** Returns a trainer on a folder of good images, or on {@code train/good} of a folder in the layout of MVTec AD. */
    public static DetectorTrainer on(Path images) throws IOException {
        return new DetectorTrainer(
                AnomalyDataset.isMvtec(images) ? AnomalyDataset.mvtec(images).good() : AnomalyDataset.images(images));
    }

    /** Sets a folder of images with defects, by which detectors are compared instead of synthetic ones. */
    public DetectorTrainer defects(Path images) throws IOException {
        defects = AnomalyDataset.images(images);
        return this;
    }

    /** Sets the backbone, for example {@code efficientnet-lite4}; by default the best with installed weights. */
    public DetectorTrainer backbone(String name) {
        settings = settings.with("network.backbone", name);
        return this;
    }

    /** Sets image size, tiles, rate of false alarms, seed and threads. */
    public DetectorTrainer options(DetectorTraining.Options other) {
        options = other;
        return this;
    }

    /** Sets the device; the CPU by default. */
    public DetectorTrainer device(Device other) {
        device = other;
        return this;
    }

    /** Sets the listener of progress. */
    public DetectorTrainer listener(Consumer<TrainEvent> other) {
        listener = other;
        return this;
    }

    /** Sets a condition that ends training with a {@link java.util.concurrent.CancellationException}. */
    public DetectorTrainer cancelWhen(BooleanSupplier condition) {
        cancelled = condition;
        return this;
    }

    /**
     * Trains and writes {@code model.safetensors}.
     *
     * @param folder is created if needed; must not hold a run or a model
     * @return the result; the caller closes its detector
     * @throws IllegalArgumentException if there are too few readable images
     * @throws InterruptedIOException if the thread is interrupted
     * @throws IOException if the folder cannot be written, or holds a run or a model
     */
    public DetectorTraining.Result train(Path folder) throws IOException {
        Path model = Files.createDirectories(folder).resolve(ModelFile.NAME);
        AtomicFile.require(model);
        if (Files.exists(model) || new ExistingRun(folder).exists()) {
            throw new IOException(folder + ": expected a new folder, found a run in it; choose another one");
        }
        WeightStore store = WeightStore.ofProcess();
        Settings complete = DefaultResolver.withBackbone(settings, store.available());
        Backbone backbone = store.backbone(complete.get(TrainConfig.BACKBONE));
        try (Arena arena = Arena.ofShared()) {
            Weights weights = store.find(
                    backbone,
                    complete.get(TrainConfig.WEIGHTS),
                    arena,
                    remark -> listener.accept(new TrainEvent.Warning(remark)));
            DetectorTraining training = new DetectorTraining(backbone, weights, device, options, listener, cancelled);
            DetectorTraining.Result result = training.train(sources(good), sources(defects), Map.of());
            try {
                result.detector().save(model);
            } catch (IOException | RuntimeException failed) {
                result.detector().close();
                throw failed;
            }
            return result;
        }
    }

    private static List<ImageSource> sources(List<Path> files) {
        return files.stream().map(ImageSource::of).toList();
    }
}
