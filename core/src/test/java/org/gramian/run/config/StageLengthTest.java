package org.gramian.run.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.gramian.image.crop.CropPlan;
import org.gramian.train.recipe.Schedule;
import org.junit.jupiter.api.Test;

/** Length of stage 1. */
final class StageLengthTest {
    @Test
    void fewImagesGetMoreEpochs() {
        assertThat(new StageLength(1).epochs()).isEqualTo(60);
    }

    @Test
    void shortEpochsUseCosineDecay() {
        assertThat(new StageLength(24).schedule()).isEqualTo(new Schedule.Cosine());
        assertThat(new StageLength(25).schedule()).isEqualTo(new Schedule.Plateau(2, 2));
    }

    @Test
    void manyImagesGetFifteenEpochs() {
        StageLength large = new StageLength(30_000);
        assertThat(large.epochs()).isEqualTo(15);
        assertThat(large.schedule()).isEqualTo(new Schedule.Plateau(2, 2));
    }

    @Test
    void epochsGiveEnoughSteps() {
        for (int steps = 3; steps <= 10; steps++) {
            assertThat(steps * new StageLength(steps).epochs()).isBetween(150, 150 + steps);
        }
    }

    @Test
    void fewCropsMakeSmallBatches() {
        Settings settings = Settings.NONE.with(Keys.CROPS, CropPlan.parse("center"));
        assertThat(StageLength.batch(settings, 319).get(Keys.BATCH)).isEqualTo(8);
        assertThat(StageLength.batch(settings, 320).get(Keys.BATCH)).isEqualTo(32);
        assertThat(StageLength.batch(settings.with(Keys.BATCH, 5), 319).get(Keys.BATCH))
                .isEqualTo(5);
        assertThat(StageLength.batch(settings.with(Keys.CROPS, CropPlan.parse("paper")), 319)
                        .get(Keys.BATCH))
                .isEqualTo(32);
    }

    @Test
    void stepsCountCropsAndBatches() {
        Settings settings = Settings.NONE
                .with(Keys.CROPS, CropPlan.parse("paper"))
                .with(Keys.BATCH, 10)
                .with(Keys.ACCUMULATE, 3);
        assertThat(StageLength.of(settings, 200)).isEqualTo(new StageLength(100));
    }
}
