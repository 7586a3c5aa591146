package org.gramian.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.gramian.testing.Facts.facts;

import org.junit.jupiter.api.Test;

class FactsTest {
    private static final String TEXT = "--batch: expected 1 to 512 images, found 0.5 in 'conv5_3' (fold 15)";

    @Test
    void wholeValuesAreFoundInTextsAndMessages() {
        assertThat(TEXT).has(facts("--batch", 1, 512, 0.5, "conv5_3", "Image"));
        assertThat(new IllegalStateException(TEXT)).has(facts("conv5_3", "'conv5_3'"));
    }

    @Test
    void partsOfNumbersAndNamesAreNot() {
        assertThat(TEXT).doesNotHave(facts("5")).doesNotHave(facts("conv5")).doesNotHave(facts("0"));
        assertThat(TEXT).doesNotHave(facts("images", "masks")).doesNotHave(facts("found", "found"));
        assertThat(new IllegalStateException()).doesNotHave(facts(1));
    }

    @Test
    void thereIsAlwaysSomethingToFind() {
        assertThatIllegalArgumentException().isThrownBy(() -> facts());
        assertThatIllegalArgumentException().isThrownBy(() -> facts("1", ""));
    }
}
