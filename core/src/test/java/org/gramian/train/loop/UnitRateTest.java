package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.train.loop.Recipes.stage;

import java.io.IOException;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.StageRecipe;
import org.junit.jupiter.api.Test;

class UnitRateTest extends PaintedParts {
    private static final StageRecipe NONE = stage(0, 0, "constant", 0);

    private double rate(StageRecipe first, String pooling) throws IOException {
        Recipe recipe = Recipes.of(first, NONE);
        return SmallTraining.of(recipe, parts)
                .with(pooling)
                .run()
                .events(EpochDone.class)
                .getFirst()
                .learningRate();
    }

    /** The squared distance from the mean is at most 1, and β of {@link Recipes} bounds the rate. */
    @Test
    void unitDescriptorsTakeLargerStepsWithinTheBound() throws IOException {
        double bound = 4 * (1 + Recipes.of(NONE, NONE).optimizer().rule().momentum());
        assertThat(rate(Recipes.perLength(1, 0.5), "average/l2")).isBetween(0.5, 0.5 * bound * (1 + 1e-6));
    }

    /** Kernels of synthetic images are nearly equal, so that the mean dominates. */
    @Test
    void normBoundsTheRate() throws IOException {
        double bound = 4 * (1 + Recipes.of(NONE, NONE).optimizer().rule().momentum());
        assertThat(rate(Recipes.perLength(1, 0.5), "rbf:sigma=1e6/flat/l2")).isCloseTo(0.5 * bound, within(1e-4));
    }

    /** A join of k copies of a vector is √k times as long. */
    @Test
    void rateIsDividedByTheSquaredNorm() throws IOException {
        double once = rate(Recipes.perLength(1, 0.5), "average");
        assertThat(once).isPositive();
        assertThat(rate(Recipes.perLength(1, 0.5), "[average+average+average+average]"))
                .isCloseTo(once / 4, within(once * 1e-5));
        assertThat(rate(Recipes.perLength(1, 0.25), "average")).isCloseTo(once / 2, within(once * 1e-5));
    }

    /** Dropped channels make the others, and so descriptors, larger in training than in prediction. */
    @Test
    void descriptorsOfTrainingDecide() throws IOException {
        double plain = rate(Recipes.perLength(1, 0.5), "pca:6/covariance/triu");
        assertThat(rate(Recipes.perLength(1, 0.5), "pca:6/dropcov/covariance/triu"))
                .isLessThan(plain / 1.5);
    }
}
