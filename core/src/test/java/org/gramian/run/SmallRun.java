package org.gramian.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.basis.Sha256;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.run.config.Settings;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.TrainingContext;

/**
 * A run of few small images and steps, which takes parts of a second.
 *
 * @param dataset 2 classes with 6 images each, or something else
 * @param settings {@link #SETTINGS} or others
 * @param place where it is kept
 */
record SmallRun(Dataset dataset, Settings settings, Path place) {
    /** Two folds, a small pooling, one epoch of stage 1. */
    static final Settings SETTINGS = Settings.NONE
            .with("network.backbone", "filters")
            .with("data.crops", CropPlan.parse("center:16"))
            .with("network.pooling", "conv:6/rbf/spd:4/relu/triu/root/l2")
            .with("data.protocol", Protocol.parse("kfold:2"))
            .with("data.validation", 0.34)
            .with("stage1.epochs", 1)
            .with("stage2.epochs", 0)
            .with("optimizer.batch", 4);

    /** Nothing yet. */
    SmallRun(Path folder) {
        this(new Dataset(folder, List.of(), List.of()), Settings.NONE, folder);
    }

    static SmallRun in(Path folder) throws IOException {
        return new SmallRun(PaintedImages.folders(folder.resolve("images"), 6, 6), SETTINGS, folder.resolve("run"));
    }

    SmallRun of(Dataset other) {
        return new SmallRun(other, settings, place);
    }

    SmallRun with(String key, Object value) {
        return new SmallRun(dataset, settings.with(key, value), place);
    }

    TrainingRun trainer() {
        return trainer(_ -> {}, Cancellation.onRequest());
    }

    TrainingRun trainer(Consumer<TrainEvent> events, Cancellation breaks) {
        WeightStore none = new WeightStore(place.resolveSibling("weights"));
        return TrainingRun.of(dataset)
                .with(settings)
                .with(none, Optional.empty())
                .with(TrainingContext.of(Device.CPU)
                        .withThreads(2)
                        .withListener(events)
                        .withCancellation(breaks)
                        .withCheckpointing(Checkpointing.every(Duration.ofDays(1))));
    }

    RunPlan plan() throws IOException, InterruptedException {
        return trainer().plan(trainer().audit());
    }

    /** Some folds, or all where none is named. */
    RunResult train(List<String> folds) throws IOException, InterruptedException {
        AuditReport audit = trainer().audit();
        RunPlan whole = trainer().plan(audit);
        return trainer().train(folds.isEmpty() ? whole : whole.only(folds), audit, place);
    }

    /** Stops after the first step, with a checkpoint. */
    void trainOneStep() throws IOException, InterruptedException {
        Cancellation breaks = Cancellation.onRequest();
        Consumer<TrainEvent> stop = event -> {
            if (event instanceof Stepped _) {
                breaks.cancel();
            }
        };
        trainer(stop, breaks).train(place);
    }

    /** Returns the hash of every file of a run by its path in the folder. */
    static Map<String, String> hashes(Path run) throws IOException {
        Map<String, String> hashes = new TreeMap<>();
        try (Stream<Path> files = Files.walk(run)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                hashes.put(run.relativize(file).toString(), Sha256.hex(Sha256.of(file)));
            }
        }
        return hashes;
    }
}
