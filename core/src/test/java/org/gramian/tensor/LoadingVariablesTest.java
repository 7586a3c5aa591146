package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LoadingVariablesTest {
    @Test
    void whatAUserHasSetStays() {
        assertThat(LoadingVariables.wanted(Map.of(LoadingVariables.HUGE_PAGES, "0")))
                .doesNotContainKey(LoadingVariables.HUGE_PAGES);
        assertThat(LoadingVariables.wanted(Map.of(LoadingVariables.WAITING, "active")))
                .doesNotContainKey(LoadingVariables.WAITING);
    }

    @Test
    void aCountOfSpinsIsNotOverruledByAPolicyOfWaiting() {
        assertThat(LoadingVariables.wanted(Map.of(LoadingVariables.SPINS, "7")))
                .containsOnlyKeys(LoadingVariables.HUGE_PAGES);
    }

    @Test
    void bothAreSetWhereNothingIsSaid() {
        assertThat(LoadingVariables.wanted(Map.of()))
                .containsOnlyKeys(LoadingVariables.HUGE_PAGES, LoadingVariables.WAITING);
    }
}
