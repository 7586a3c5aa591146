package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.train.loop.TrainableModel.HeadRates;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

class HeadRatesTest {
    private static final TrainingProgress LONG = TrainingProgress.startOf(1, ValidationScore.NONE, 1e-4);

    @Test
    void classifierRateFollowsTheDescriptorNorm() {
        HeadRates rates = HeadRates.of(Recipes.perLength(1, 0.5), LONG);
        assertThat(rates.classifier()).isEqualTo(1e-4);
        assertThat(rates.pooling()).isEqualTo(0.01);
    }

    @Test
    void givenRateAppliesToAllLayers() {
        TrainingProgress start = TrainingProgress.startOf(1, ValidationScore.NONE, 1);
        assertThat(HeadRates.of(Recipes.stage(1, 0.5, "constant", 0), start)).isEqualTo(new HeadRates(1, 1));
    }
}
