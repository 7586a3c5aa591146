package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.loop.Recipes.extending;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.PaintedImages;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.loop.TrainEvent.StageDone;
import org.gramian.train.loop.TrainEvent.StageExtended;
import org.gramian.train.loop.TrainEvent.StageStarted;
import org.gramian.train.loop.TrainEvent.Stepped;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Improvement;
import org.gramian.train.recipe.StageRecipe;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stage whose loss still falls at its last epoch is extended, or reports it. */
class ExtendedStageTest {
    private static final StageRecipe NONE = stage(0, 0, "constant", 0);

    @TempDir
    private Path folder = Path.of("");

    private Parts parts = new Parts(List.of(new Sample("none", 0, folder)), List.of(), List.of());

    @BeforeEach
    void paint() throws IOException {
        Parts divided = SmallTraining.divide(PaintedImages.folders(folder.resolve("images"), 5, 6, 7));
        parts = new Parts(
                divided.training(), divided.training(), divided.test()); // a validation loss that falls for long
    }

    private SmallTraining training(StageRecipe first) {
        return training(first, NONE);
    }

    /** Plain gradient steps on a convex problem: the loss falls slowly and for long. */
    private SmallTraining training(StageRecipe first, StageRecipe second) {
        return SmallTraining.of(Recipes.withoutMomentum(Recipes.of(first, second)), parts)
                .with("bilinear/triu/root/l2");
    }

    @Test
    void extendedStageEqualsOneOfMoreEpochs() throws IOException {
        Outcome extended = training(extending(4, 0.3, "constant")).run();
        int epochs = extended.events(EpochDone.class).size();
        assertThat(epochs).isBetween(5, 8);
        assertThat(extended.events(StageExtended.class))
                .extracting(StageExtended::epochs)
                .startsWith(5)
                .endsWith(epochs);
        assertThat(extended.events(StageExtended.class))
                .allMatch(one -> one.improvement().isRelevant());
        assertThat(extended.model())
                .isEqualTo(training(stage(epochs, 0.3, "constant", 0)).run().model());
    }

    @Test
    void stageOfFixedLengthReportsImprovement() throws IOException {
        for (String schedule : List.of("constant", "steps:9")) {
            Outcome outcome = training(stage(4, 0.3, schedule, 0)).run();
            assertThat(outcome.events(StageExtended.class)).isEmpty();
            List<ValidationScore> judgements = outcome.events(EpochDone.class).stream()
                    .map(EpochDone::validation)
                    .toList();
            assertThat(outcome.events(StageDone.class).getFirst().improving())
                    .isEqualTo(Optional.of(Improvement.of(judgements)));
        }
    }

    @Test
    void stageWithoutImprovementIsNeitherExtendedNorReported() throws IOException {
        Outcome outcome = training(extending(4, 0, "constant")).run();
        assertThat(outcome.events(StageExtended.class)).isEmpty();
        assertThat(outcome.events(EpochDone.class)).hasSize(4);
        assertThat(outcome.events(StageDone.class).getFirst().improving()).isEmpty();
    }

    @Test
    void interruptionAfterAnyStepChangesNeitherLengthNorBytes() throws IOException {
        SmallTraining training = training(extending(4, 0.3, "plateau"), extending(2, 0.02, "constant"));
        Outcome whole = training.run();
        assertThat(whole.events(StageExtended.class)).isNotEmpty();
        int steps = whole.events(Stepped.class).size();
        for (int step = 1; step <= steps; step++) {
            Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ofDays(1));
            training.brokenAfter(step, checkpointing);
            Outcome last = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(last.model()).as("interrupted after step %d", step).isEqualTo(whole.model());
            assertThat(last.events(StageDone.class).getLast())
                    .as("interrupted after step %d", step)
                    .isEqualTo(whole.events(StageDone.class).getLast());
            checkpointing.remove();
        }
    }

    @Test
    void resumedStageReportsItsExtendedLength() throws IOException {
        SmallTraining training = training(extending(4, 0.3, "constant"));
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, Duration.ofDays(1));
        int steps = training.run().events(StageStarted.class).getFirst().steps();
        training.brokenAfter(4 * steps + 1, checkpointing);
        Outcome last = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
        assertThat(last.events(StageStarted.class).getFirst().epochs()).isEqualTo(5);
    }

    @Test
    void theTimeBudgetEndsAnExtension() throws IOException {
        SmallTraining training = training(extending(4, 0.3, "constant"));
        long[] now = {0};
        Outcome outcome = training.run(
                event -> {
                    if (event instanceof StageExtended) {
                        now[0] = Duration.ofHours(1).toNanos();
                    }
                },
                Cancellation.after(Duration.ofMinutes(1), () -> now[0]),
                Optional.empty());
        assertThat(outcome.early()).contains(Cancellation.Reason.OUT_OF_TIME);
        assertThat(outcome.events(EpochDone.class)).hasSize(4);
        assertThat(outcome.stages()).as("the model is kept").containsOnlyKeys(1);
    }
}
