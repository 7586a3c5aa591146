package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ScopeTest {
    private long before;

    @BeforeEach
    void count() {
        before = Tensor.live();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(Tensor.live()).as("live tensors").isEqualTo(before);
    }

    private static Tensor tensor() {
        return Tensors.zeros(Shape.of(2), DType.F32, Device.CPU);
    }

    private static void assertFreed(Tensor tensor) {
        assertThatThrownBy(tensor::toDoubles)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("F32[2]");
    }

    @Test
    void closingScopeFreesWhatWasMadeInIt() {
        Tensor tensor;
        try (Scope _ = Scope.open()) {
            tensor = tensor();
            assertThat(Tensor.live()).isEqualTo(before + 1);
        }
        assertFreed(tensor);
    }

    @Test
    void keptTensorMovesToEnclosingScope() {
        Tensor kept;
        try (Scope _ = Scope.open()) {
            try (Scope inner = Scope.open()) {
                kept = inner.keep(tensor());
                tensor();
            }
            assertThat(kept.toDoubles()).containsExactly(0, 0);
            assertThat(Tensor.live()).isEqualTo(before + 1);
        }
        assertFreed(kept);
    }

    @Test
    void tensorKeptByOutermostScopeBelongsToCaller() {
        Tensor kept;
        try (Scope scope = Scope.open()) {
            kept = scope.keep(tensor());
        }
        try (kept) {
            assertThat(kept.toDoubles()).containsExactly(0, 0);
        }
        assertFreed(kept);
    }

    @Test
    void scopeNeitherKeepsNorReleasesWhatIsNotItsOwn() {
        try (Scope outer = Scope.open()) {
            Tensor tensor = tensor();
            try (Scope inner = Scope.open()) {
                assertThat(inner.keep(tensor)).isSameAs(tensor);
                assertThat(inner.release(tensor)).isFalse();
            }
            assertThat(tensor.toDoubles()).hasSize(2);
            assertThat(outer.release(tensor)).isTrue();
            assertThat(outer.release(tensor)).isFalse();
            tensor.close();
        }
    }

    @Test
    void releasedAndDetachedTensorsOutliveTheirScope() {
        Tensor released;
        Tensor detached;
        try (Scope scope = Scope.open()) {
            released = tensor();
            detached = tensor();
            scope.release(released);
            Scope.detach(detached);
        }
        try (released;
                detached) {
            assertThat(released.toDoubles()).isEqualTo(detached.toDoubles());
        }
    }

    @Test
    void tensorFreedEarlyIsNotFreedAgain() {
        try (Scope _ = Scope.open()) {
            Tensor tensor = tensor();
            tensor.close();
            tensor.close();
            assertThat(Tensor.live()).isEqualTo(before);
            assertFreed(tensor);
        }
    }

    @Test
    void everyUseAfterFreeSaysSo() {
        Tensor freed;
        try (Scope _ = Scope.open()) {
            freed = tensor();
        }
        try (Scope _ = Scope.open()) {
            Tensor other = tensor();
            List<Runnable> uses = List.of(
                    freed::data,
                    freed::toLongs,
                    () -> freed.exp(),
                    () -> other.add(freed),
                    () -> other.mul(freed),
                    () -> freed.reshape(2, 1),
                    () -> Tensors.concat(List.of(other, freed), 0),
                    () -> freed.sum(),
                    () -> other.copyFrom(freed),
                    () -> freed.copy());
            for (int i = 0; i < uses.size(); i++) {
                assertThatThrownBy(uses.get(i)::run)
                        .as("use %s", i)
                        .isInstanceOf(IllegalStateException.class)
                        .has(facts("F32[2]"));
            }
        }
        assertThat(freed.shape()).isEqualTo(Shape.of(2)); // what a message needs stays readable
    }

    @Test
    void scopesCloseInnermostFirst() {
        Scope outer = Scope.open();
        Scope inner = Scope.open();
        assertThatThrownBy(outer::close).isInstanceOf(IllegalStateException.class);
        inner.close();
        inner.close(); // closing twice is harmless
        outer.close();
    }

    @Test
    void scopeIsClosedByItsOwnThread() throws InterruptedException {
        try (Scope scope = Scope.open();
                ExecutorService other = Executors.newSingleThreadExecutor()) {
            assertThatThrownBy(() -> other.submit(scope::close).get())
                    .isInstanceOf(ExecutionException.class)
                    .hasRootCauseInstanceOf(IllegalStateException.class);
            tensor();
        }
    }

    @Test
    void anotherThreadsTensorsAreNotInThisThreadsScope() throws Exception {
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Tensor made;
            try (Scope _ = Scope.open()) {
                made = other.submit(ScopeTest::tensor).get();
            }
            try (made) {
                assertThat(made.toDoubles()).hasSize(2);
            }
        }
    }

    @Test
    void exceptionFreesAllScopesItPasses() {
        assertThatThrownBy(() -> {
                    try (Scope _ = Scope.open()) {
                        tensor();
                        try (Scope inner = Scope.open()) {
                            inner.keep(tensor());
                            tensor().add(Tensors.zeros(Shape.of(3), DType.F32, Device.CPU));
                        }
                    }
                })
                .hasMessageContaining("add");
    }

    @RandomTest(times = 30)
    void anyNestingOfScopesEndsWithNothingLeft(Seed seed) {
        List<Tensor> mine = new ArrayList<>();
        nest(seed.random(), 0, mine);
        assertThat(Tensor.live()).isEqualTo(before + mine.size());
        mine.forEach(Tensor::close);
    }

    private static void nest(SplittableRandom random, int depth, List<Tensor> mine) {
        try (Scope scope = Scope.open()) {
            List<Tensor> here = new ArrayList<>();
            for (int i = random.nextInt(8); i > 0; i--) {
                here.add(tensor());
                Tensor any = here.get(random.nextInt(here.size()));
                switch (random.nextInt(5)) {
                    case 0 -> {
                        if (depth > 0) {
                            scope.keep(any);
                        }
                    }
                    case 1 -> {
                        if (scope.release(any)) {
                            mine.add(any);
                        }
                    }
                    case 2 -> {
                        if (!mine.contains(any)) {
                            any.close();
                        }
                    }
                    case 3 -> {
                        if (depth < 4) {
                            nest(random, depth + 1, mine);
                        }
                    }
                    default -> {}
                }
            }
        }
    }
}
