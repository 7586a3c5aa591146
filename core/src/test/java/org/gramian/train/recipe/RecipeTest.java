package org.gramian.train.recipe;

import static org.gramian.testing.Facts.assertRejected;

import org.gramian.train.recipe.Recipe.Batching;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecipeTest {
    @ParameterizedTest
    @CsvSource({"65536, 65536", "2147483647, 2", "2, 2147483647", "32768, 32769"})
    void tooLargeStepIsRefused(int batch, int accumulate) {
        assertRejected(() -> new Batching(batch, accumulate), accumulate, batch);
    }
}
