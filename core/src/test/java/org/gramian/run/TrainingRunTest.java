package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.EvaluationFile;
import org.gramian.image.audit.AuditReport;
import org.gramian.image.dataset.Dataset;
import org.gramian.model.ModelCard;
import org.gramian.model.ModelFile;
import org.gramian.run.RunResult.FoldResult;
import org.gramian.run.config.Settings;
import org.gramian.testing.PaintedImages;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.Cancellation;
import org.gramian.train.loop.History;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From a folder of 3 classes with 6 images each to models, whole or in parts. */
class TrainingRunTest {
    @TempDir
    private Path folder = Path.of("");

    private Dataset dataset = new Dataset(folder, List.of(), List.of());
    private Settings settings = Settings.NONE;
    private final List<TrainEvent> events = new ArrayList<>();

    @BeforeEach
    void paint() throws IOException {
        dataset = PaintedImages.folders(folder.resolve("images"), 6, 6, 6);
        settings = SmallRun.SETTINGS.with("stage1.epochs", 2).with("stage2.epochs", 1);
    }

    private WeightStore weights() {
        return new WeightStore(folder.resolve("weights"));
    }

    private TrainingRun trainer() {
        return trainer(events::add, Cancellation.onRequest());
    }

    private TrainingRun trainer(Consumer<TrainEvent> listener, Cancellation breaks) {
        return new SmallRun(dataset, settings, folder.resolve("run"))
                .trainer(listener, breaks)
                .with(weights(), Optional.of(folder.resolve("cache")));
    }

    private RunResult train(String place) throws IOException, InterruptedException {
        return trainer().train(folder.resolve(place));
    }

    /** The hash of every file of a run. */
    private Map<String, String> content(String place) throws IOException {
        return SmallRun.hashes(folder.resolve(place));
    }

    private void requireSameFiles(String found, String wanted) throws IOException {
        assertThat(content(found)).as(found).isEqualTo(content(wanted));
    }

    @Test
    void runWritesModelsAndResultsOfEveryFold() throws IOException, InterruptedException {
        RunResult result = train("run");
        assertThat(result.early()).isEmpty();
        assertThat(result.folds()).hasSize(2);
        assertThat(content("run").keySet())
                .containsExactly(
                        ".lock",
                        "audit.json",
                        "config.yaml",
                        "fold-1/confusion.csv",
                        "fold-1/evaluation.json",
                        "fold-1/gallery.safetensors",
                        "fold-1/history.csv",
                        "fold-1/model.safetensors",
                        "fold-1/predictions.csv",
                        "fold-1/spd.json",
                        "fold-1/stage1.json",
                        "fold-1/training.json",
                        "fold-2/confusion.csv",
                        "fold-2/evaluation.json",
                        "fold-2/gallery.safetensors",
                        "fold-2/history.csv",
                        "fold-2/model.safetensors",
                        "fold-2/predictions.csv",
                        "fold-2/spd.json",
                        "fold-2/stage1.json",
                        "fold-2/training.json");
        for (FoldResult fold : result.folds()) {
            assertThat(EvaluationFile.read(fold.folder().resolve("evaluation.json")))
                    .isEqualTo(fold.evaluation());
            assertThat(fold.afterFirst())
                    .hasValue(EvaluationFile.read(fold.folder().resolve("stage1.json")));
            assertThat(History.open(fold.folder().resolve("history.csv")).epochs())
                    .hasSize(3);
            ModelCard card = ModelFile.header(fold.model()).card();
            assertThat(card.metrics().get(Metric.ACCURACY.key())).isEqualTo(Metric.ACCURACY.of(fold.evaluation()));
            assertThat(card.temperature())
                    .isEqualTo(fold.evaluation().temperature().value());
            assertThat(card.classes()).containsExactly("c0", "c1", "c2");
        }
        assertThat(result.folds().stream()
                        .mapToInt(fold -> fold.evaluation().predictions().size()))
                .containsExactly(9, 9);
    }

    @Test
    void finishedRunIsNotTrainedAgain() throws IOException, InterruptedException {
        RunResult first = train("run");
        Map<String, String> before = content("run");
        events.clear();
        RunResult again = train("run");
        assertThat(again).isEqualTo(first);
        assertThat(content("run")).isEqualTo(before);
        assertThat(events).noneMatch(TrainEvent.StageStarted.class::isInstance);
        assertThat(events.stream().filter(TrainEvent.FoldDone.class::isInstance))
                .hasSize(2);
    }

    @Test
    void finishedRunOfAnotherConfigurationIsRefused() throws IOException, InterruptedException {
        train("run");
        Map<String, String> before = content("run");
        settings = settings.with("optimizer.batch", 5);
        assertThatThrownBy(() -> train("run"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("config.yaml")
                .has(facts("optimizer.batch", "5", "4"));
        assertThat(content("run")).isEqualTo(before);
        Files.delete(folder.resolve("run/config.yaml"));
        assertThatThrownBy(() -> train("run"))
                .as("without a configuration the models tell")
                .isInstanceOf(IOException.class)
                .hasMessageContaining("model.safetensors")
                .has(facts("optimizer.batch", "5", "4"));
    }

    @Test
    void runInterruptedManyTimesEndsWithTheSameFiles() throws IOException, InterruptedException {
        train("whole");
        for (int steps : Boolean.getBoolean("gramian.full") ? List.of(1, 2, 5) : List.of(3)) {
            String place = "interrupted every " + steps;
            int parts = 0;
            while (!interrupted(place, steps)) {
                parts++;
            }
            assertThat(parts).isGreaterThan(1);
            requireSameFiles(place, "whole");
        }
    }

    /** Trains until so many steps are taken; whether it came to its end. */
    private boolean interrupted(String place, int steps) throws IOException, InterruptedException {
        Cancellation breaks = Cancellation.onRequest();
        int[] taken = {0};
        Consumer<TrainEvent> stop = event -> {
            if (event instanceof Stepped _ && ++taken[0] == steps) {
                breaks.cancel();
            }
        };
        return trainer(stop, breaks).train(folder.resolve(place)).early().isEmpty();
    }

    @Test
    void cacheAndThreadsDoNotChangeTheFiles() throws IOException, InterruptedException {
        train("whole");
        train("warm");
        requireSameFiles("warm", "whole");
        for (int threads : List.of(1, 5)) {
            String place = threads + " threads without a cache";
            trainer()
                    .with(weights(), Optional.empty())
                    .with(trainer().context().withThreads(threads))
                    .train(folder.resolve(place));
            requireSameFiles(place, "whole");
        }
    }

    @Test
    void runOutOfTimeHasAModelAndResumes() throws IOException, InterruptedException {
        train("whole");
        long[] seconds = {0};
        Cancellation breaks = Cancellation.after(
                Duration.ofSeconds(1), () -> Duration.ofSeconds(seconds[0]).toNanos());
        RunResult early = trainer(event -> seconds[0] += event instanceof Stepped _ ? 1 : 0, breaks)
                .train(folder.resolve("run"));
        assertThat(early.early()).hasValue(Cancellation.Reason.OUT_OF_TIME);
        assertThat(early.folds()).singleElement().satisfies(fold -> {
            assertThat(fold.early()).hasValue(Cancellation.Reason.OUT_OF_TIME);
            assertThat(fold.model()).isRegularFile();
        });
        assertThat(content("run")).containsKey("fold-1/checkpoint.safetensors");
        assertThat(train("run").early()).isEmpty();
        requireSameFiles("run", "whole");
    }

    @Test
    void interruptedRunResumesWithItsConfigurationOnly() throws IOException, InterruptedException {
        assertThat(interrupted("run", 1)).isFalse();
        assertThat(content("run"))
                .containsKey("fold-1/checkpoint.safetensors")
                .doesNotContainKey("fold-1/model.safetensors");
        settings = settings.with("optimizer.momentum", 0.5);
        assertThatThrownBy(() -> train("run"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("config.yaml")
                .has(facts("optimizer.momentum", "0.5", "0.9"));
        Files.delete(folder.resolve("run/config.yaml"));
        assertThatThrownBy(() -> train("run"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("checkpoint.safetensors");
    }

    @Test
    void foldsAreSelectedByNumberOrName() throws IOException, InterruptedException {
        TrainingRun trainer = trainer();
        AuditReport audit = trainer.audit();
        RunPlan plan = trainer.plan(audit);
        FoldPlan second = plan.folds().get(1);
        assertThat(plan.only(List.of("2")).folds()).containsExactly(second);
        assertThat(plan.only(List.of(second.name())).folds()).containsExactly(second);
        assertThat(plan.only(List.of("2", second.name(), "1")).folds())
                .containsExactly(second, plan.folds().getFirst());
        for (String wrong : List.of("0", "3", "999999", "none", "")) {
            assertThatThrownBy(() -> plan.only(List.of(wrong)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'" + wrong + "'")
                    .has(facts("1", "2"))
                    .hasMessageContaining(second.name());
        }
        trainer.train(plan, audit, folder.resolve("whole"));
        trainer.train(plan.only(List.of("2")), audit, folder.resolve("some"));
        assertThat(content("some").keySet()).noneMatch(file -> file.startsWith("fold-1/"));
        trainer.train(plan.only(List.of("1")), audit, folder.resolve("some"));
        requireSameFiles("some", "whole");
    }
}
