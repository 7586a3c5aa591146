package org.gramian.train.recipe;

import static org.gramian.testing.Facts.assertRejected;

import org.gramian.train.recipe.Recipe.Batching;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecipeTest {
    @ParameterizedTest
    @CsvSource({"65536, 65536", "2147483647, 2", "2, 2147483647", "32768, 32769"})
    void tooLargeStepIsRefused(int batch, int accumulate) {
        assertRejected(() -> new Batching(batch, accumulate), accumulate, batch);
    }

    /** A larger rate would be infinite in float32. */
    @Test
    void tooLargeRateIsRefused() {
        Schedule constant = Schedule.parse("constant");
        assertRejected(() -> new StageRecipe(1, 1e39, 1, constant, 0, false), "learning rate", "1.0E39");
        assertRejected(() -> new StageRecipe(1, 1e30, 1e30, constant, 0, false), "learning rate", 1e30 * 1e30);
        assertRejected(() -> new StageRecipe(1, 1, 1e39, constant, 0, false), "backbone", "1.0E39");
    }
}
