package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import org.junit.jupiter.api.Test;

class EnumWordsTest {
    private enum Season {
        LATE_SPRING,
        SUMMER
    }

    @Test
    void constantIsParsedInAnyCase() {
        assertThat(EnumWords.words(Season.class)).containsExactly("late-spring", "summer");
        assertThat(EnumWords.parse(Season.class, "the season", " Late-Spring ")).isEqualTo(Season.LATE_SPRING);
        assertThat(EnumWords.parse(Season.class, "the season", EnumWords.text(Season.SUMMER)))
                .isEqualTo(Season.SUMMER);
    }

    @Test
    void unknownWordListsAllWordsAndTheNearest() {
        assertRejected(
                () -> EnumWords.parse(Season.class, "the season", "sumer"),
                "the season",
                "late-spring",
                "summer",
                "sumer",
                "summer");
        assertThatThrownBy(() -> EnumWords.parse(Season.class, "the season", "LATE_SPRING"))
                .has(facts("LATE_SPRING", "late-spring", "late-spring"));
    }
}
