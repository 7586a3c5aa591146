package org.gramian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Classifier;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The entry point of the library, on a folder of 3 classes with 6 images each. */
class TrainerTest {
    @TempDir
    private Path folder = Path.of("");

    private Path images = folder;
    private Path run = folder;
    private Dataset dataset = new Dataset(folder, List.of(), List.of());
    private final List<TrainEvent> progress = new ArrayList<>();

    @BeforeEach
    void paint() throws IOException {
        images = folder.resolve("images");
        run = folder.resolve("run");
        dataset = PaintedImages.folders(images, 6, 6, 6);
    }

    private Trainer small(Trainer trainer) {
        return trainer.backbone("filters")
                .pooling("conv:6/rbf/spd:4/relu/triu/root/l2")
                .protocol("kfold:2")
                .set("data.crops", "center:16")
                .set("data.validation", 0.34)
                .epochs(2)
                .seed(7)
                .device(Device.CPU)
                .threads(2)
                .weights(folder.resolve("weights"))
                .withoutCache()
                .listener(progress::add);
    }

    @Test
    void trainsAndReportsEveryFold() throws Exception {
        TrainingReport report = small(Trainer.on(images)).train(run);
        assertThat(report.completed()).isTrue();
        assertThat(report.folds()).hasSize(2).allSatisfy(fold -> {
            assertThat(fold.model()).isRegularFile();
            assertThat(fold.images()).isEqualTo(9);
            assertThat(fold.metrics()).containsEntry("accuracy", fold.accuracy());
        });
        double mean = report.folds().stream()
                .mapToDouble(TrainingReport.Fold::accuracy)
                .average()
                .orElseThrow();
        assertThat(report.accuracy()).isEqualTo(mean);
        assertThat(report.metric("macroF1")).isBetween(0.0, 1.0);
        try (Classifier classifier = report.classifier()) {
            Sample first = dataset.samples().getFirst();
            assertThat(dataset.classes())
                    .contains(classifier.predict(first.file()).className());
        }
    }

    @Test
    void sendsEpochsAndFolds() throws Exception {
        small(Trainer.on(dataset)).train(run);
        assertThat(progress)
                .filteredOn(EpochDone.class::isInstance)
                .map(EpochDone.class::cast)
                .extracting(EpochDone::stage, EpochDone::epoch)
                .containsExactly(tuple(1, 0), tuple(1, 1), tuple(1, 0), tuple(1, 1));
        assertThat(progress).filteredOn(TrainEvent.FoldDone.class::isInstance).hasSize(2);
        assertThat(progress)
                .filteredOn(TrainEvent.Task.class::isInstance)
                .map(TrainEvent.Task.class::cast)
                .allSatisfy(task -> assertThat(task.done()).isBetween(0L, task.total()));
    }

    @Test
    void aCancelledRunResumesToTheSameModel() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Trainer cancelled = small(Trainer.on(images))
                .listener(event -> stop.compareAndSet(false, event instanceof EpochDone))
                .cancelWhen(stop::get);
        TrainingReport stopped = cancelled.train(run);
        assertThat(stopped.completed()).isFalse();
        assertThat(stopped.reached()).startsWith("stage 1, epoch ");
        assertThat(stopped.bestSoFar()).isEmpty();
        TrainingReport resumed = small(Trainer.on(images)).train(run);
        TrainingReport whole = small(Trainer.on(images)).train(folder.resolve("whole"));
        assertThat(resumed.completed()).isTrue();
        assertThat(Files.readAllBytes(resumed.model())).isEqualTo(Files.readAllBytes(whole.model()));
    }

    @Test
    void aRunCancelledWhileReadingImagesHasNoFold() throws Exception {
        TrainingReport report = small(Trainer.on(images)).cancelWhen(() -> true).train(run);
        assertThat(report.completed()).isFalse();
        assertThat(report.folds()).isEmpty();
        assertThatThrownBy(report::accuracy).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void cancelledFutureStopsWithCheckpoint() throws Exception {
        CountDownLatch trained = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        CompletableFuture<TrainingReport> future = small(Trainer.on(images))
                .listener(event -> {
                    if (event instanceof EpochDone) {
                        trained.countDown();
                        try {
                            cancelled.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                })
                .trainAsync(run);
        trained.await();
        future.cancel(false);
        cancelled.countDown();
        TrainingReport stopped = future.get();
        assertThat(stopped.completed()).isFalse();
        assertThat(stopped.reached()).startsWith("stage 1, epoch ");
        assertThat(progress).isEmpty();
        TrainingReport resumed = small(Trainer.on(images)).train(run);
        assertThat(resumed.completed()).isTrue();
        assertThat(progress).filteredOn(EpochDone.class::isInstance).hasSize(3); // of 4, in two folds
    }

    @Test
    void futureEndsWithReport() throws Exception {
        TrainingReport report = small(Trainer.on(images))
                .protocol("holdout:0.34")
                .trainAsync(run)
                .get();
        assertThat(report.completed()).isTrue();
        assertThat(report.bestSoFar()).contains(report.model());
        assertThatThrownBy(() -> small(Trainer.on(folder.resolve("none")))
                        .trainAsync(run)
                        .get())
                .hasCauseInstanceOf(IOException.class);
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThatThrownBy(() -> Trainer.on(images).set("optimizer.momentun", 0.9))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("optimizer.momentum");
        assertThatThrownBy(() -> Trainer.on(images).epochs(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Trainer.on(images).threads(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Trainer.on(images).pooling("bcnnn")).isInstanceOf(IllegalArgumentException.class);
    }
}
