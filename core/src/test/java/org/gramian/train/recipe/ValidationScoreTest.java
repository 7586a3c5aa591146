package org.gramian.train.recipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.List;
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

    @Test
    void recipesRejectInvalidNumbers() {
        Schedule constant = Schedule.parse("constant");
        for (double wrong : List.of(-1.0, Double.NaN, Double.POSITIVE_INFINITY)) {
            String found = Double.toString(wrong);
            requireRefusal(() -> new StageRecipe(1, wrong, 1, constant, 0), "learning rate", found);
            requireRefusal(() -> new StageRecipe(1, 1, wrong, constant, 0), "backbone", found);
            requireRefusal(() -> new StageRecipe(1, 1, 1, constant, wrong), "warm-up", found);
            requireRefusal(() -> new Recipe.Loss(wrong, Recipe.Loss.ClassWeights.NONE), "label smoothing", found);
        }
        requireRefusal(() -> new StageRecipe(1, 1e39, 1, constant, 0), "learning rate", "1.0E39");
        requireRefusal(() -> new StageRecipe(1, 1e30, 1e30, constant, 0), "learning rate", String.valueOf(1e30 * 1e30));
        requireRefusal(() -> new StageRecipe(-1, 1, 1, constant, 0), "0", "-1");
        requireRefusal(() -> new Recipe.Loss(1, Recipe.Loss.ClassWeights.NONE), "label smoothing", "1.0");
        requireRefusal(() -> new Recipe.Batching(0, 1), "1", "0");
        requireRefusal(() -> new Recipe.Batching(1, 0), "1", "0");
    }

    private static void requireRefusal(Runnable making, String what, String found) {
        assertRejected(making::run, what, found);
    }
}
