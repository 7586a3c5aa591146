package org.gramian.train.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class ValidationScoreTest {
    private static ValidationScore any(SplittableRandom random) {
        return new ValidationScore(random.nextInt(3) / 3.0, random.nextInt(1, 5) / 2.0);
    }

    @RandomTest
    void betterIsAStrictOrder(Seed seed) {
        SplittableRandom random = seed.random();
        ValidationScore a = any(random);
        ValidationScore b = any(random);
        ValidationScore c = any(random);
        assertThat(a.isBetterThan(a)).isFalse();
        assertThat(a.isBetterThan(b) && b.isBetterThan(a)).isFalse();
        assertThat(!a.isBetterThan(b) || !b.isBetterThan(c) || a.isBetterThan(c))
                .isTrue();
        assertThat(a.isBetterThan(ValidationScore.NONE)).isTrue();
        assertThat(ValidationScore.NONE.isBetterThan(a)).isFalse();
    }

    @Test
    void lossDecidesNotTheError() {
        assertThat(new ValidationScore(0.2, 1).isBetterThan(new ValidationScore(0.1, 2)))
                .isTrue();
        assertThat(new ValidationScore(0.1, 2).isBetterThan(new ValidationScore(0.2, 1)))
                .isFalse();
        assertThat(new ValidationScore(0.1, 1).isBetterThan(new ValidationScore(0.2, 1)))
                .isFalse();
    }

    @Test
    void roundingIsNoImprovement() {
        assertThat(new ValidationScore(0, 0.99999).isBetterThan(new ValidationScore(0, 1)))
                .isFalse();
    }
}
