package org.gramian.train.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class ImprovementTest {
    private static List<ValidationScore> losses(double... losses) {
        return Arrays.stream(losses)
                .mapToObj(loss -> new ValidationScore(0.5, loss))
                .toList();
    }

    private static boolean isRelevant(double... losses) {
        return Improvement.of(losses(losses)).isRelevant();
    }

    private static StageRecipe stage(int epochs, String schedule, boolean extend) {
        return new StageRecipe(epochs, 1, false, 0, Schedule.parse(schedule), 0, 1, false, extend);
    }

    @Test
    void lastTwoEpochsAreComparedWithTheBestBefore() {
        Improvement found = Improvement.of(losses(3, 1, 2, 0.9, 0.95));
        assertThat(found).isEqualTo(new Improvement(1, 0.9));
        assertThat(found.share()).isCloseTo(0.1, Offset.offset(1e-12));
        assertThat(Improvement.of(losses(2, 1))).isEqualTo(new Improvement(2, 1));
    }

    @Test
    void itIsRelevantBeyondOnePercentAndBeyondRounding() {
        assertThat(isRelevant(1, 0.995, 0.985)).isTrue();
        assertThat(isRelevant(1, 0.995, 0.991)).as("less than 1 %").isFalse();
        assertThat(isRelevant(1, 0.5, 0.6, 0.7)).as("better before").isFalse();
        assertThat(isRelevant(0.01, 0.01, 0.009)).as("a loss near 0").isFalse();
        assertThat(isRelevant(1, 1.1, 1.2)).as("a loss that rises").isFalse();
        assertThat(isRelevant()).isFalse();
        assertThat(isRelevant(1)).isFalse();
    }

    @Test
    void improvingStageIsExtendedByQuartersUpToTwiceItsEpochs() {
        StageRecipe stage = stage(8, "plateau", true);
        double[] falling = new double[16];
        for (int epochs = 0; epochs <= falling.length; epochs++) {
            int expected = epochs < 8 ? 8 : Math.min(16, 8 + 2 * ((epochs - 8) / 2 + 1));
            assertThat(stage.epochs(losses(Arrays.copyOf(falling, epochs))))
                    .as("%d epochs", epochs)
                    .isEqualTo(expected);
            if (epochs < falling.length) {
                falling[epochs] = Math.pow(0.9, epochs);
            }
        }
        assertThat(stage(1, "constant", true).epochs(losses(1))).isEqualTo(1);
        assertThat(stage(3, "constant", true).epochs(losses(4, 3, 2))).isEqualTo(4);
    }

    @Test
    void stageWithoutImprovementIsNotExtended() {
        assertThat(stage(4, "plateau", true).epochs(losses(4, 3, 3, 3))).isEqualTo(4);
        assertThat(stage(4, "plateau", false).epochs(losses(4, 3, 2, 1))).isEqualTo(4);
        // it improved at epoch 4 and no longer at epoch 5
        assertThat(stage(4, "plateau", true).epochs(losses(4, 3, 2, 1, 1, 1))).isEqualTo(6);
    }

    @Test
    void aScheduleOfFixedLengthIsNotExtended() {
        for (String schedule : List.of("cosine", "steps:6,7")) {
            assertThat(stage(3, schedule, true).epochs(losses(4, 3, 2))).isEqualTo(3);
        }
    }
}
