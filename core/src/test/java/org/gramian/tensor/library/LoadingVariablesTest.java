package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.tensor.library.Libtorch.LibtorchLoader.LoadingVariables.GPU_MEMORY;
import static org.gramian.tensor.library.Libtorch.LibtorchLoader.LoadingVariables.HUGE_PAGES;
import static org.gramian.tensor.library.Libtorch.LibtorchLoader.LoadingVariables.SPINS;
import static org.gramian.tensor.library.Libtorch.LibtorchLoader.LoadingVariables.WAITING;
import static org.gramian.tensor.library.Libtorch.LibtorchLoader.LoadingVariables.wanted;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LoadingVariablesTest {
    @Test
    void whatAUserHasSetStays() {
        assertThat(wanted(Map.of(HUGE_PAGES, "0"))).doesNotContainKey(HUGE_PAGES);
        assertThat(wanted(Map.of(WAITING, "active"))).doesNotContainKey(WAITING);
        for (String name : GPU_MEMORY) {
            assertThat(wanted(Map.of(name, "max_split_size_mb:64")))
                    .doesNotContainKeys(GPU_MEMORY.toArray(String[]::new));
        }
    }

    @Test
    void aCountOfSpinsIsNotOverruledByAPolicyOfWaiting() {
        assertThat(wanted(Map.of(SPINS, "7"))).doesNotContainKey(WAITING).containsKey(HUGE_PAGES);
    }
}
