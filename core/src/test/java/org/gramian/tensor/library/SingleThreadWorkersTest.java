package org.gramian.tensor.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;

class SingleThreadWorkersTest {
    @Test
    void workersUseOneThreadAndOthersKeepTheirNumber() throws Exception {
        Libtorch libtorch = Libtorch.load();
        int before = libtorch.threads();
        try {
            libtorch.setThreads(2);
            try (SingleThreadWorkers workers = SingleThreadWorkers.open(3)) {
                List<Future<Integer>> found = new ArrayList<>();
                for (int i = 0; i < 9; i++) {
                    found.add(workers.submit(() -> {
                        try (Scope _ = Scope.open()) { // an operator, which asks for the number
                            Tensor x = Tensors.full(1, Shape.of(300, 300), DType.F32, Device.CPU);
                            x.matmul(x);
                        }
                        return libtorch.threads();
                    }));
                }
                for (Future<Integer> one : found) {
                    assertThat(SingleThreadWorkers.get(one)).isEqualTo(1);
                }
                assertThat(libtorch.threads()).isEqualTo(2);
                int[] ofNewThread = new int[1];
                Thread other = Thread.ofPlatform().start(() -> ofNewThread[0] = libtorch.threads());
                other.join();
                assertThat(ofNewThread[0]).as("of a thread started later").isEqualTo(2);
            }
            assertThat(libtorch.threads()).isEqualTo(2);
        } finally {
            libtorch.setThreads(before);
        }
    }

    @Test
    void aFailedOrInterruptedCallWaitsForAllRanges() {
        AtomicInteger done = new AtomicInteger();
        IllegalArgumentException wrong = new IllegalArgumentException("wrong");
        SingleThreadWorkers.inRanges(2, 2, (_, _, _) -> {}); // starts the workers
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> SingleThreadWorkers.inRanges(6, 3, (range, _, _) -> {
                    if (range == 0) {
                        throw wrong;
                    }
                    LockSupport.parkNanos(20_000_000);
                    done.incrementAndGet();
                }))
                .isSameAs(wrong);
        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        assertThat(done).hasValue(2);
    }

    @Test
    void whatATaskThrowsIsThrownByTheOneWhoWaits() {
        IllegalArgumentException wrong = new IllegalArgumentException("wrong");
        try (SingleThreadWorkers workers = SingleThreadWorkers.open(1)) {
            Future<Integer> task = workers.submit(() -> {
                throw wrong;
            });
            assertThatThrownBy(() -> SingleThreadWorkers.get(task)).isSameAs(wrong);
        }
    }
}
