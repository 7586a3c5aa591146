package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.basis.AtomicFile;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.protocol.Protocol;
import org.gramian.run.config.Settings;
import org.gramian.testing.PaintedImages;
import org.gramian.testing.WatchedFolder;
import org.gramian.train.loop.Checkpointing;
import org.gramian.train.loop.StageResult;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A run that is killed after any change of its files, however often, resumes to the files of an undisturbed run. */
final class KilledRunTest {
    private static final boolean FULL = Boolean.getBoolean("gramian.full");

    @TempDir
    private static Path images = Path.of("");

    private static Optional<Dataset> dataset = Optional.empty();

    @TempDir
    private Path root = Path.of("");

    /** The folders of interrupted runs by their content. */
    private final Map<Map<String, String>, Path> killed = new LinkedHashMap<>();

    @BeforeAll
    static void paint() throws IOException {
        dataset = Optional.of(PaintedImages.folders(images, 8, 8));
    }

    private static Settings settings() {
        return Settings.NONE
                .with("network.backbone", "filters")
                .with("data.crops", CropPlan.parse("resize:24"))
                .with("data.protocol", Protocol.parse("holdout:0.25"))
                .with("data.validation", 0.3)
                .with("optimizer.batch", 8)
                .with("gallery", FULL);
    }

    private enum Course {
        SOLVED_HEAD_WINS(true, fineTuned().with("stage2.epochs", 1)),
        FIRST_STAGE_WINS(
                true, fixed().with("stage1.epochs", 1).with("stage2.epochs", 1).with("stage2.rate", 1)),
        FINE_TUNED_MODEL_WINS(FULL, fineTuned().with("stage2.epochs", 8).with("stage2.rate", 0.5)),
        BOTH_STAGES(FULL, settings().with("stage1.epochs", 1).with("stage2.epochs", 1)),
        SEARCHED_HEAD_WINS(FULL, settings().with("stage2.epochs", 1)),
        LEARNED_HEAD(FULL, settings().with("quality", "best"));

        private final boolean included;
        private final Settings settings;

        Course(boolean included, Settings settings) {
            this.included = included;
            this.settings = settings;
        }

        private static Settings fixed() {
            return settings().with("network.pooling", "average/l2");
        }

        private static Settings fineTuned() {
            return fixed().with("network.classifier", "lda");
        }
    }

    private void train(Settings settings, Path folder) throws IOException, InterruptedException {
        TrainingRun trainer = new SmallRun(dataset.orElseThrow(), settings, root.resolve("run")).trainer();
        trainer.with(trainer.context().withCheckpointing(Checkpointing.every(Duration.ZERO)))
                .train(WatchedFolder.of(folder, () -> keep(folder)));
    }

    /** Copies a run as a kill at this moment would leave it, unless such a copy exists. */
    private void keep(Path run) throws IOException {
        Path copy = root.resolve("killed " + killed.size());
        if (killed.putIfAbsent(state(run), copy) == null) {
            copy(run, copy);
        }
    }

    private static Map<String, String> state(Path run) throws IOException {
        Map<String, String> files = SmallRun.hashes(run);
        files.keySet().removeIf(name -> name.endsWith(AtomicFile.PARTIAL));
        files.computeIfPresent(FoldFolder.SOLVING, (_, _) -> "a time");
        return files;
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file)));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyKilledRunResumesToTheSameFiles(Course course) throws IOException, InterruptedException {
        assumeTrue(course.included, "under gramian.full");
        Path run = root.resolve("run");
        train(course.settings, run);
        Map<String, String> whole = state(run);
        List<Map<String, String>> states = new ArrayList<>(killed.keySet());
        assertThat(states).hasSizeGreaterThan(15);
        for (int i = 0; i < states.size(); i++) {
            boolean all = FULL && course != Course.LEARNED_HEAD; // which has many epochs
            if (all || states.get(i).containsKey(StageResult.FILE)) { // written at the end of a stage
                Path resumed = Objects.requireNonNull(killed.get(states.get(i)));
                train(course.settings, resumed);
                assertThat(state(resumed))
                        .as(
                                "%s after a kill that left %s",
                                course, states.get(i).keySet())
                        .isEqualTo(whole);
                killed.keySet().stream().skip(states.size()).forEach(states::add);
            }
        }
    }
}
