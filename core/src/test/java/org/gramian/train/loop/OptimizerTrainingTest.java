package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.gramian.testing.PaintedImages;
import org.gramian.train.AdamW;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.Stepped;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.OptimizerRecipe;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole trainings with averaged weights and layer-wise decay. */
class OptimizerTrainingTest {
    @TempDir
    private Path folder = Path.of("");

    private SmallTraining training(double ema) throws IOException {
        Recipe recipe = Recipes.of(stage(4, 0.05, "constant", 0), stage(0, 0, "constant", 0));
        Parts parts = SmallTraining.divide(PaintedImages.folders(folder.resolve("images" + ema), 5, 6, 7));
        OptimizerRecipe optimizer = new OptimizerRecipe(AdamW.defaults(0), 1, ema);
        // Without a validation set the last epoch is kept.
        return SmallTraining.of(Recipes.with(recipe, optimizer), parts)
                .with(new Parts(parts.training(), List.of(), parts.test()));
    }

    /** A decay next to 0 averages over the last step alone: the model is the one without averages, up to rounding. */
    @Test
    void theModelHasTheAveragedWeights() throws IOException {
        float[] plain = training(0).run().numbers();
        float[] last = training(1e-30).run().numbers();
        float[] averaged = training(0.9).run().numbers();
        assertThat(last).hasSameSizeAs(plain);
        double most = 0;
        for (int i = 0; i < plain.length; i++) {
            assertThat(last[i]).as("number %d", i).isCloseTo(plain[i], within(1e-6f));
            most = Math.max(most, Math.abs(averaged[i] - plain[i]));
        }
        assertThat(most).as("an average over ten steps differs").isGreaterThan(5e-3);
    }

    /** Averages serve validation and the model; the steps go on from the trained weights. */
    @Test
    void averagingDoesNotChangeTheSteps() throws IOException {
        List<EpochDone> plain = training(0).run().events(EpochDone.class);
        List<EpochDone> averaged = training(0.9).run().events(EpochDone.class);
        assertThat(averaged.stream().map(EpochDone::loss).toList())
                .isEqualTo(plain.stream().map(EpochDone::loss).toList());
    }

    /** Time is over before the first epoch is: the model has the averages of the steps so far. */
    @Test
    void trainingOutOfTimeInItsFirstEpochHasAveragedWeights() throws IOException {
        float[][] models = new float[2][];
        int place = 0;
        for (double ema : new double[] {0, 0.9}) {
            SmallTraining training = training(ema);
            long[] now = {0};
            Outcome outcome = training.run(
                    event -> now[0] += event instanceof Stepped ? 1 : 0,
                    Cancellation.after(Duration.ofNanos(1), () -> now[0]),
                    Optional.empty());
            assertThat(outcome.early()).hasValue(Cancellation.Reason.OUT_OF_TIME);
            models[place++] = outcome.numbers();
        }
        assertThat(models[1]).isNotEqualTo(models[0]);
    }
}
