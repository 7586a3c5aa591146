package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.data.Offset;
import org.gramian.image.dataset.Sample;
import org.gramian.model.Logits;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.event.TrainEvent.StageDone;
import org.gramian.train.loop.SmallTraining.Outcome;
import org.gramian.train.loop.TrainingData.Parts;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

/** How the loop follows its recipe: which parameters it keeps, at which rates it learns, what it minimizes. */
class KeptParametersTest extends PaintedParts {
    private Parts unjudged() {
        return new Parts(parts.training(), List.of(), parts.test());
    }

    /** Validation images do not change parameters, so without them training passes through the same parameters. */
    @Test
    void parametersOfTheBestEpochAreKept() throws IOException {
        int epochs = 4;
        Set<Integer> seen = new TreeSet<>();
        for (long seed = 0; seed < 5; seed++) {
            Recipe recipe = Recipes.withSeed(Recipes.first(epochs, 3), seed);
            Outcome outcome = SmallTraining.of(recipe, parts).run();
            int kept = outcome.events(StageDone.class).getFirst().kept();
            assertThat(kept).isEqualTo(best(outcome.events(EpochDone.class)));
            Recipe until = Recipes.withSeed(Recipes.first(kept + 1, 3), seed);
            assertThat(outcome.model())
                    .isEqualTo(SmallTraining.of(until, unjudged()).run().model());
            seen.add(kept);
        }
        assertThat(seen).as("the best epoch should not always be the last").hasSizeGreaterThan(1);
    }

    private static int best(List<EpochDone> epochs) {
        int best = -1;
        ValidationScore worth = ValidationScore.NONE;
        for (EpochDone epoch : epochs) {
            ValidationScore score = new ValidationScore(epoch.validationError(), epoch.validationLoss());
            boolean better = score.isBetterThan(worth);
            assertThat(epoch.best()).isEqualTo(better);
            best = better ? epoch.epoch() : best;
            worth = better ? score : worth;
        }
        return best;
    }

    @Test
    void withoutAValidationSetTheLastParametersAreKept() throws IOException {
        Outcome three = SmallTraining.of(Recipes.first(3, 3), unjudged()).run();
        assertThat(three.events(StageDone.class))
                .singleElement()
                .satisfies(stage -> assertThat(stage.kept()).isEqualTo(2));
        assertThat(three.events(EpochDone.class))
                .allSatisfy(epoch -> assertThat(epoch.isValidated()).isFalse());
        assertThat(three.model())
                .isNotEqualTo(
                        SmallTraining.of(Recipes.first(2, 3), unjudged()).run().model());
    }

    @Test
    void worseSecondStageIsUndone() throws IOException {
        Recipe recipe = Recipes.of(stage(10, 2, "constant", 0), stage(2, 1e3, "constant", 0));
        Outcome outcome = SmallTraining.of(recipe, parts).run();
        List<StageDone> ends = outcome.events(StageDone.class);
        assertThat(ends).hasSize(2);
        assertThat(ends.getLast().kept()).isEqualTo(-1);
        assertThat(outcome.model()).isEqualTo(outcome.stages().get(1));
    }

    @Test
    void betterSecondStageIsKept() throws IOException {
        Parts same = new Parts(parts.training(), parts.training(), parts.test());
        Recipe recipe = Recipes.of(stage(1, 1e-6, "constant", 0), stage(3, 0.5, "constant", 0));
        Outcome outcome = SmallTraining.of(recipe, same).run();
        assertThat(outcome.events(StageDone.class).getLast().kept()).isNotNegative();
        assertThat(outcome.model())
                .isNotEqualTo(outcome.stages().get(1))
                .isEqualTo(outcome.stages().get(2));
    }

    @Test
    void rateRisesDuringWarmUp() throws IOException {
        Recipe recipe = Recipes.of(stage(4, 0.4, "constant", 2), stage(0, 0, "constant", 0));
        List<EpochDone> epochs = SmallTraining.of(recipe, parts).run().events(EpochDone.class);
        assertThat(epochs).extracting(EpochDone::learningRate).containsExactly(0.2, 0.4, 0.4, 0.4);
    }

    @Test
    void rateFollowsTheSchedule() throws IOException {
        Recipe recipe = Recipes.of(stage(4, 1, "steps:1,3", 0), stage(2, 1, "cosine", 0));
        List<EpochDone> epochs = SmallTraining.of(recipe, unjudged()).run().events(EpochDone.class);
        // Two steps in an epoch: the last of four steps is at three quarters of half a cosine.
        double[] wanted = {1, 0.1, 0.1, 0.01, (1 + Math.cos(Math.PI / 4)) / 2, (1 + Math.cos(Math.PI * 3 / 4)) / 2};
        for (int i = 0; i < wanted.length; i++) {
            assertThat(epochs.get(i).learningRate()).isCloseTo(wanted[i], Offset.offset(1e-12));
        }
        assertThat(epochs).hasSameSizeAs(wanted);
    }

    @Test
    void plateauStopsAStageWithoutImprovement() throws IOException {
        Recipe recipe = Recipes.of(stage(20, 0, "plateau:2,1", 0), stage(0, 0, "constant", 0));
        Outcome outcome = SmallTraining.of(recipe, parts).run();
        // The first epoch is the best; two after it bring a tenth, two more the end.
        assertThat(outcome.events(StageDone.class)).singleElement().satisfies(done -> {
            assertThat(done.stage()).isEqualTo(1);
            assertThat(done.epochs()).isEqualTo(5);
            assertThat(done.kept()).isZero();
            assertThat(done.reason()).isNotBlank();
        });
    }

    /** At a rate of 0 nothing moves, so that scores at the end are those that the loss was made of. */
    @Test
    void classWeightsAndSmoothLabelsReachTheLoss() throws IOException {
        Parts same = new Parts(parts.training(), List.of(), parts.training());
        for (ClassWeights weights : ClassWeights.values()) {
            for (double smoothing : List.of(0.0, 0.3)) {
                Recipe recipe = Recipes.with(Recipes.first(1, 0), new Recipe.Loss(smoothing, weights));
                Outcome outcome = SmallTraining.of(recipe, same).run();
                double loss = outcome.events(EpochDone.class).getFirst().loss();
                assertThat(loss)
                        .as("%s, %s", weights, smoothing)
                        .isCloseTo(loss(outcome.test(), smoothing, weights), Offset.offset(1e-5));
            }
        }
    }

    private double loss(List<Logits> scores, double smoothing, ClassWeights weights) {
        List<Sample> samples = parts.training();
        double loss = 0;
        for (int i = 0; i < samples.size(); i++) {
            int label = samples.get(i).label();
            long alike =
                    samples.stream().filter(other -> other.label() == label).count();
            double weight = weights == ClassWeights.NONE ? 1 : samples.size() / (3.0 * alike);
            for (int k = 0; k < 3; k++) {
                double wanted = smoothing / 3 + (k == label ? 1 - smoothing : 0);
                loss -= weight * wanted * scores.get(i).logProbability(k, 1) / samples.size();
            }
        }
        return loss;
    }
}
