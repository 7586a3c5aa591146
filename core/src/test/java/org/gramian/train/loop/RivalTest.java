package org.gramian.train.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

final class RivalTest {
    private final Rival rival = new Rival(0.2, 100, Duration.ofSeconds(30));

    private static List<ValidationScore> errors(double... errors) {
        return Arrays.stream(errors)
                .mapToObj(error -> new ValidationScore(error, error))
                .toList();
    }

    @Test
    void headThatGainsEnoughIsInReach() {
        assertThat(rival.isOutOfReach(errors(0.9, 0.8, 0.7, 0.6), 10)).isFalse();
        assertThat(rival.isOutOfReach(errors(0.9, 0.8, 0.7, 0.6), 3)).isTrue();
    }

    @Test
    void standardErrorIsGranted() {
        assertThat(rival.isOutOfReach(errors(0.23, 0.23, 0.23, 0.23), 10)).isFalse();
        assertThat(rival.isOutOfReach(errors(0.26, 0.26, 0.26, 0.26), 10)).isTrue();
        assertThat(new Rival(0.2, 10, Duration.ZERO).isOutOfReach(errors(0.26, 0.26, 0.26, 0.26), 10))
                .isFalse();
    }

    @Test
    void fewEpochsDecideNothing() {
        assertThat(rival.isOutOfReach(errors(1, 1, 1), 1)).isFalse();
    }

    @Test
    void lossOfAnEpochCountsAsNoGain() {
        assertThat(rival.isOutOfReach(errors(0.21, 0.9, 0.9, 0.9), 1)).isFalse();
        assertThat(rival.isOutOfReach(errors(0.5, 0.9, 0.9, 0.9), 100)).isTrue();
    }
}
