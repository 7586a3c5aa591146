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
}
