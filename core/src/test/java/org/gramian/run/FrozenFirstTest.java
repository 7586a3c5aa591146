package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.model.ModelFile;
import org.gramian.pooling.Pooling;
import org.gramian.run.config.Settings;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.HeadCandidate;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.HeadSearch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The default recipe: a comparison of poolings, a classifier fitted by a solver, then fine-tuning. */
final class FrozenFirstTest {
    @TempDir
    private static Path images = Path.of("");

    private static Optional<Dataset> dataset = Optional.empty();
    private static Map<String, String> fineTunedFiles = Map.of();

    @TempDir
    private Path folder = Path.of("");

    @BeforeAll
    static void paint() throws IOException {
        dataset = Optional.of(PaintedImages.folders(images, 12, 12, 12));
    }

    private final List<TrainEvent> events = new ArrayList<>();

    private Settings settings() {
        return Settings.NONE
                .with("network.backbone", "filters")
                .with("data.crops", CropPlan.parse("resize:24"))
                .with("data.protocol", Protocol.parse("holdout:0.25"));
    }

    private TrainingRun trainer(Settings settings, Consumer<TrainEvent> also, Cancellation breaks) {
        Consumer<TrainEvent> kept = events::add;
        return new SmallRun(dataset.orElseThrow(), settings, folder.resolve("run")).trainer(kept.andThen(also), breaks);
    }

    private RunResult train(Settings settings, String place) throws IOException, InterruptedException {
        return trainer(settings, _ -> {}, Cancellation.onRequest()).train(folder.resolve(place));
    }

    private Map<String, String> hashes(String place) throws IOException {
        return SmallRun.hashes(folder.resolve(place));
    }

    @Test
    void headIsTheShortestWithinOneStandardErrorOfTheBest() throws IOException, InterruptedException {
        RunResult result = train(settings(), "run");
        HeadSearch.Result selection =
                new FoldFolder(folder.resolve("run")).candidates().orElseThrow();
        assertThat(events).contains(selection.chosen());
        List<HeadCandidate> others =
                selection.entries().subList(1, selection.entries().size());
        assertThat(others).extracting(HeadCandidate::accuracy).isSortedAccordingTo((a, b) -> Double.compare(b, a));
        assertThat(others)
                .allSatisfy(other -> assertThat(-other.behind()).isLessThanOrEqualTo(other.behindError() + 1e-12));
        assertThat(ModelFile.header(folder.resolve("run").resolve(FoldFolder.MODEL))
                        .head()
                        .pooling()
                        .text())
                .isEqualTo(Pooling.parse(selection.best().pooling()).text());
        assertThat(result.folds().getFirst().evaluation().accuracy().value()).isGreaterThan(0.5);
        assertThat(result.folds().getFirst().afterFirst()).isEmpty();
    }

    private Settings fineTuned() {
        return settings().with("stage2.epochs", 2).with("optimizer.batch", 4).with("data.validation", 0.2);
    }

    /** The files of a fine-tuned run without interruption, which several tests compare with. */
    private Map<String, String> fineTunedFiles() throws IOException, InterruptedException {
        if (fineTunedFiles.isEmpty()) {
            train(fineTuned(), "whole");
            fineTunedFiles = hashes("whole");
        }
        return fineTunedFiles;
    }

    @Test
    void fineTuningFollowsAModelOnFrozenFeatures() throws IOException, InterruptedException {
        RunResult result = train(fineTuned(), "run");
        assertThat(events.stream()
                        .filter(TrainEvent.Evaluated.class::isInstance)
                        .map(event -> ((TrainEvent.Evaluated) event).stage()))
                .containsExactly(1, 2);
        assertThat(result.folds().getFirst().afterFirst()).isPresent();
        assertThat(folder.resolve("run/frozen.safetensors")).doesNotExist();
        assertThat(ModelFile.header(folder.resolve("run/model.safetensors"))
                        .card()
                        .metrics())
                .containsKey("validation-accuracy");
    }

    @Test
    void oneTrainingImagePerClassEndsWithAModel() throws IOException, InterruptedException {
        Dataset two = PaintedImages.folders(folder.resolve("two"), 2, 2);
        Settings half = settings().with("data.protocol", Protocol.parse("holdout:0.5"));
        SmallRun run = new SmallRun(two, half, folder.resolve("run"));
        run.trainer(events::add, Cancellation.onRequest()).train(run.place());
        assertThat(events).noneMatch(TrainEvent.HeadChosen.class::isInstance);
        assertThat(ModelFile.header(folder.resolve("run/model.safetensors"))
                        .head()
                        .pooling()
                        .text())
                .contains("average");
    }

    @Test
    void learnedHeadCompetesWithTheSolvedOne() throws IOException, InterruptedException {
        RunResult result = train(
                settings().with("quality", "best").with("optimizer.batch", 4).with("data.validation", 0.2), "run");
        assertThat(events.stream()
                        .filter(TrainEvent.Evaluated.class::isInstance)
                        .map(event -> ((TrainEvent.Evaluated) event).stage()))
                .containsExactly(1, 1);
        assertThat(events)
                .anyMatch(TrainEvent.HeadChosen.class::isInstance)
                .anyMatch(Stepped.class::isInstance)
                .anyMatch(TrainEvent.HeadLearned.class::isInstance);
        assertThat(result.folds()).hasSize(1);
        assertThat(folder.resolve("run/frozen.safetensors")).doesNotExist();
        assertThat(folder.resolve("run/model.safetensors")).exists();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7})
    void interruptedFineTuningResumesWithTheSameBits(int steps) throws IOException, InterruptedException {
        assumeTrue(Boolean.getBoolean("gramian.full") || steps != 2, "under gramian.full");
        Cancellation breaks = Cancellation.onRequest();
        int[] seen = {0};
        Consumer<TrainEvent> stop = event -> {
            if (event instanceof Stepped _ && ++seen[0] == steps) {
                breaks.cancel();
            }
        };
        trainer(fineTuned(), stop, breaks).train(folder.resolve("broken"));
        assertThat(folder.resolve("broken/frozen.safetensors")).exists();
        assertThat(folder.resolve("broken/model.safetensors"))
                .hasSameBinaryContentAs(folder.resolve("broken/frozen.safetensors"));
        train(fineTuned(), "broken");
        assertThat(hashes("broken")).isEqualTo(fineTunedFiles());
    }

    @Test
    void timeBudgetBeforeFineTuningLeavesTheFrozenModel() throws IOException, InterruptedException {
        AtomicLong now = new AtomicLong();
        Cancellation breaks = Cancellation.after(Duration.ofSeconds(1), now::get);
        Consumer<TrainEvent> late = event -> {
            if (event instanceof TrainEvent.Evaluated) {
                now.set(Duration.ofSeconds(2).toNanos());
            }
        };
        RunResult result = trainer(fineTuned(), late, breaks).train(folder.resolve("run"));
        assertThat(result.early()).contains(Cancellation.Reason.OUT_OF_TIME);
        assertThat(result.folds()).hasSize(1);
        assertThat(folder.resolve("run/model.safetensors"))
                .hasSameBinaryContentAs(folder.resolve("run/frozen.safetensors"));
        train(fineTuned(), "run");
        assertThat(hashes("run")).isEqualTo(fineTunedFiles());
    }

    @ParameterizedTest
    @ValueSource(strings = {"efficientnet-lite4", "squeezenet", "googlenet", "resnet50", "vgg16", "filters"})
    void everyBackboneHasCandidates(String name) {
        Backbone backbone = Backbone.of(name);
        for (String layers : List.of(backbone.selectionLayers(), backbone.fineTunedLayers())) {
            Backbone cut = backbone.cutAt(layers);
            assertThat(HeadSearch.candidates(cut))
                    .isNotEmpty()
                    .allSatisfy(candidate -> assertThat(Pooling.parse(candidate.pooling())
                                    .resolve(cut, 1000)
                                    .descriptorSize(cut.channels()))
                            .isBetween(1L, 150_000L));
            assertThat(HeadSearch.candidates(cut).getFirst().name()).startsWith("average");
            assertThat(HeadSearch.fineTuned(cut).resolve(cut, 1000).descriptorSize(cut.channels()))
                    .isPositive();
        }
    }
}
