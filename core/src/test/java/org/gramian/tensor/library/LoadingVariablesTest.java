package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LoadingVariablesTest {
    @Test
    void whatAUserHasSetStays() {
        assertThat(LibtorchLoader.LoadingVariables.wanted(Map.of(LibtorchLoader.LoadingVariables.HUGE_PAGES, "0")))
                .doesNotContainKey(LibtorchLoader.LoadingVariables.HUGE_PAGES);
        assertThat(LibtorchLoader.LoadingVariables.wanted(Map.of(LibtorchLoader.LoadingVariables.WAITING, "active")))
                .doesNotContainKey(LibtorchLoader.LoadingVariables.WAITING);
    }

    @Test
    void aCountOfSpinsIsNotOverruledByAPolicyOfWaiting() {
        assertThat(LibtorchLoader.LoadingVariables.wanted(Map.of(LibtorchLoader.LoadingVariables.SPINS, "7")))
                .containsOnlyKeys(LibtorchLoader.LoadingVariables.HUGE_PAGES);
    }

    @Test
    void bothAreSetWhereNothingIsSaid() {
        assertThat(LibtorchLoader.LoadingVariables.wanted(Map.of()))
                .containsOnlyKeys(LibtorchLoader.LoadingVariables.HUGE_PAGES, LibtorchLoader.LoadingVariables.WAITING);
    }
}
