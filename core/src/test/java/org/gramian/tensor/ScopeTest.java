package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.gramian.testing.LeakFree;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakFree.class)
class ScopeTest {
    private final long before = Tensor.live();

    private static Tensor tensor() {
        return Tensors.zeros(Shape.of(2), DType.F32, Device.CPU);
    }

    private static void assertFreed(Tensor tensor) {
        assertRejected(IllegalStateException.class, tensor::toDoubles, "F32[2]");
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
        assertRejected(IllegalStateException.class, outer::close);
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
