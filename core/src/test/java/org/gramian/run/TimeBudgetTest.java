package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.run.ExistingRun.Sampled;
import org.gramian.run.config.Settings;
import org.gramian.tensor.Device;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.FirstModel;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.TrainingContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A time budget on a clock that every image which is checked or computed moves. */
final class TimeBudgetTest {
    private static final int ALL = 3 * 140;

    @TempDir
    private static Path images = Path.of("");

    private static Optional<Dataset> dataset = Optional.empty();

    @TempDir
    private Path folder = Path.of("");

    private final AtomicLong now = new AtomicLong();
    private final List<TrainEvent> events = new ArrayList<>();

    @BeforeAll
    static void paint() throws IOException {
        dataset = Optional.of(PaintedImages.folders(images, 140, 140, 140));
    }

    private RunResult train(Dataset data, String place, Cancellation cancellation, Consumer<TrainEvent> also)
            throws IOException, InterruptedException {
        return train(data, place, Protocol.parse("holdout:0.25"), cancellation, also);
    }

    private RunResult train(
            Dataset data, String place, Protocol protocol, Cancellation cancellation, Consumer<TrainEvent> also)
            throws IOException, InterruptedException {
        return TrainingRun.of(data)
                .with(Settings.NONE
                        .with("network.backbone", "filters")
                        .with("data.crops", CropPlan.parse("resize:24"))
                        .with("gallery", "false")
                        .with("data.protocol", protocol))
                .with(new WeightStore(folder.resolve("weights")), Optional.of(folder.resolve("cache")))
                .with(TrainingContext.of(Device.CPU)
                        .withThreads(2)
                        .withListener(event -> {
                            events.add(event);
                            if (event instanceof Task(String name, long _, long _)
                                    && (name.equals("checking images") || name.equals("training features"))) {
                                now.addAndGet(Duration.ofMillis(20).toNanos());
                            }
                            also.accept(event);
                        })
                        .withCancellation(cancellation))
                .train(folder.resolve(place));
    }

    private RunResult train(String place, Duration budget) throws IOException, InterruptedException {
        return train(dataset.orElseThrow(), place, Cancellation.after(budget, now::get), _ -> {});
    }

    private Optional<Sampled> sample(String place) throws IOException {
        return new ExistingRun(folder.resolve(place)).sample();
    }

    private Map<String, String> hashes(String place) throws IOException {
        return SmallRun.hashes(folder.resolve(place));
    }

    /** Checking and computing takes 40 ms per image: 64 images for the first model, then those that fit in half of the rest. */
    @Test
    void imagesThatFitAreUsed() throws IOException, InterruptedException {
        RunResult result = train("run", Duration.ofSeconds(24));
        Sampled sample = sample("run").orElseThrow();
        assertThat(sample.all()).isEqualTo(ALL);
        assertThat(sample.used()).isBetween(100, ALL - 1);
        assertThat(result.early()).isEmpty();
        assertThat(result.folds().getFirst().evaluation().predictions().size())
                .isBetween(sample.used() / 5, sample.used() / 3);
        assertThat(now.get()).isLessThan(Duration.ofSeconds(24).toNanos());
        assertThat(folder.resolve("run/first-model")).doesNotExist();
    }

    /** Every comparison of a head takes two seconds: the time of a fold ends in its search, that of the others does not. */
    @Test
    void everyFoldHasAModelWithinItsPartOfTheBudget() throws IOException, InterruptedException {
        Cancellation budget = Cancellation.after(Duration.ofSeconds(30), now::get);
        RunResult result = train(dataset.orElseThrow(), "run", Protocol.parse("kfold:3"), budget, event -> {
            if (event instanceof TrainEvent.HeadCandidate) {
                now.addAndGet(Duration.ofSeconds(2).toNanos());
            }
        });
        assertThat(result.folds()).hasSize(3);
        assertThat(result.folds()).allSatisfy(fold -> assertThat(fold.model()).isRegularFile());
        assertThat(now.get()).isLessThan(Duration.ofSeconds(30).toNanos());
    }

    @Test
    void budgetShorterThanReadingEndsWithFirstModel() throws IOException, InterruptedException {
        RunResult result = train("run", Duration.ofSeconds(1));
        assertThat(result.early()).contains(Cancellation.Reason.OUT_OF_TIME);
        assertThat(result.folds()).hasSize(1);
        assertThat(result.folds().getFirst().model()).isRegularFile();
        assertThat(events).anyMatch(FirstModel.class::isInstance);
        assertThat(train(dataset.orElseThrow(), "run", Cancellation.onRequest(), _ -> {})
                        .early())
                .isEmpty();
        assertThat(sample("run").orElseThrow().used()).isEqualTo(64);
    }

    @Test
    void cancelledRunKeepsFirstModelAndResumesWithEqualBytes() throws IOException, InterruptedException {
        Cancellation cancellation = Cancellation.onRequest();
        RunResult stopped = train(dataset.orElseThrow(), "run", cancellation, event -> {
            if (event instanceof TrainEvent.HeadCandidate) {
                cancellation.cancel();
            }
        });
        assertThat(stopped.early()).contains(Cancellation.Reason.CANCELLED);
        assertThat(stopped.folds()).hasSize(1);
        assertThat(folder.resolve("run/model.safetensors")).isRegularFile();
        train(dataset.orElseThrow(), "run", Cancellation.onRequest(), _ -> {});
        train(dataset.orElseThrow(), "whole", Cancellation.onRequest(), _ -> {});
        assertThat(hashes("run")).isEqualTo(hashes("whole"));
    }

    @Test
    void twoImagesOfTwoClassesSuffice(@TempDir Path few) throws IOException, InterruptedException {
        RunResult result = train(
                PaintedImages.folders(few, 2, 2), "run", Cancellation.after(Duration.ofMillis(1), now::get), _ -> {});
        assertThat(result.folds().getFirst().model()).isRegularFile();
    }
}
