package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ChoiceTest {
    private enum Season {
        LATE_SPRING,
        SUMMER
    }

    @Test
    void aConstantIsReadBackFromItsWordInAnyCase() {
        assertThat(Choice.words(Season.class)).containsExactly("late-spring", "summer");
        assertThat(Choice.parse(Season.class, "the season", " Late-Spring ")).isEqualTo(Season.LATE_SPRING);
        assertThat(Choice.parse(Season.class, "the season", Choice.text(Season.SUMMER)))
                .isEqualTo(Season.SUMMER);
    }

    @Test
    void anUnknownWordGetsAllWordsAndTheNearest() {
        assertThatThrownBy(() -> Choice.parse(Season.class, "the season", "sumer"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the season is one of late-spring, summer; found 'sumer' (did you mean 'summer'?)");
        assertThatThrownBy(() -> Choice.parse(Season.class, "the season", "LATE_SPRING"))
                .hasMessageContaining("did you mean 'late-spring'?");
    }
}
