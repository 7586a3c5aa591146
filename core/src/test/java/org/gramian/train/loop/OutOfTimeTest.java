package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.event.TrainEvent.Task;
import org.gramian.train.loop.SmallTraining.Means;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.recipe.Recipe.Batching;
import org.junit.jupiter.api.Test;

/** What a time that is used up leaves behind: a model that was trained, or none. */
class OutOfTimeTest extends PaintedParts {
    private static final Duration NEVER = Duration.ofDays(1);

    /** A clock with one minute per step, and a budget of so many minutes. */
    private Outcome until(int minutes, Checkpointing checkpointing) throws IOException {
        return until(minutes, Stepped.class, checkpointing);
    }

    /** A minute for each event of a kind. */
    private Outcome until(int minutes, Class<? extends TrainEvent> kind, Checkpointing checkpointing)
            throws IOException {
        long[] now = {Long.MAX_VALUE}; // a clock of nanoseconds may begin anywhere and overflow
        return training.run(
                event -> {
                    if (kind.isInstance(event)) {
                        now[0] += Duration.ofMinutes(1).toNanos();
                    }
                },
                Cancellation.after(Duration.ofMinutes(minutes), () -> now[0]),
                Optional.of(checkpointing));
    }

    @Test
    void trainingOutOfTimeHasAModelAndCanResume() throws IOException {
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        Outcome whole = training.run();
        int steps = whole.events(Stepped.class).size();
        for (int minutes = 1; minutes < steps; minutes++) {
            Outcome early = until(minutes, checkpointing);
            assertThat(early.early()).as("%d minutes", minutes).hasValue(Cancellation.Reason.OUT_OF_TIME);
            assertThat(early.events(Stepped.class)).hasSize(minutes);
            assertThat(early.stages()).isNotEmpty();
            assertThat(early.test()).hasSameSizeAs(training.parts().test());
            Outcome last = training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing));
            assertThat(last.model()).as("after %d minutes", minutes).isEqualTo(whole.model());
            Files.deleteIfExists(checkpointing.file().orElseThrow());
        }
        assertThat(until(steps, checkpointing).early()).isEmpty();
    }

    @Test
    void timeBudgetOverBeforeTheFirstStepLeavesNoModel() throws IOException {
        byte[] whole = training.run().model();
        training = training.with(new Means(2, Optional.of(folder.resolve("cache"))));
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        int images = training.parts().training().size();
        // While files are looked at, while features of training images are computed, and while those of validation
        // images
        // are.
        for (int minutes : List.of(0, 1, images, images + 1, 2 * images, 2 * images + 1)) {
            assertThatThrownBy(() -> until(minutes, Task.class, checkpointing))
                    .as("%d minutes", minutes)
                    .isInstanceOfSatisfying(
                            InterruptedTrainingException.class,
                            stopped -> assertThat(stopped.reason()).isEqualTo(Cancellation.Reason.OUT_OF_TIME));
            assertThat(checkpointing.file().orElseThrow()).doesNotExist();
        }
        assertThat(training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing))
                        .model())
                .isEqualTo(whole);
    }

    /** With features at hand, the time is over just when the first step would be taken. */
    @Test
    void stageWithoutTimeForAStepLeavesNoModel() throws IOException {
        training = training.with(Recipes.of(stage(0, 0, "constant", 0), stage(2, 0.05, "constant", 0)));
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        assertRejected(InterruptedTrainingException.class, () -> until(0, checkpointing));
        assertThat(training.run(_ -> {}, Cancellation.onRequest(), Optional.of(checkpointing))
                        .model())
                .isEqualTo(training.run().model());
    }

    @Test
    void modelOfAnIncompleteFirstEpochHasItsSteps() throws IOException {
        training = training.with(Recipes.with(Recipes.first(3, 0.5), new Batching(2, 1)));
        Checkpointing checkpointing = SmallTraining.checkpointing(folder, NEVER);
        byte[] one = until(1, checkpointing).model();
        Files.deleteIfExists(checkpointing.file().orElseThrow());
        byte[] two = until(2, checkpointing).model();
        assertThat(two).isNotEqualTo(one);
    }

    /** A minute for each step, validation image and test image: fine-tuning ends early enough to score the test set. */
    @Test
    void fineTuningLeavesTimeForTheTestSet() throws IOException {
        training = training.with(Recipes.of(stage(0, 0, "constant", 0), stage(60, 0.05, "constant", 0)));
        long[] now = {0};
        Outcome early = training.run(
                event -> {
                    boolean scored = event instanceof Task(String name, long _, long _)
                            && (name.equals("validation") || name.equals("test"));
                    now[0] += scored || event instanceof Stepped
                            ? Duration.ofMinutes(1).toNanos()
                            : 0;
                },
                Cancellation.after(Duration.ofMinutes(120), () -> now[0]),
                Optional.empty());
        assertThat(early.early()).hasValue(Cancellation.Reason.OUT_OF_TIME);
        assertThat(early.test()).hasSameSizeAs(training.parts().test());
        assertThat(Duration.ofNanos(now[0])).isBetween(Duration.ofMinutes(60), Duration.ofMinutes(120));
    }
}
