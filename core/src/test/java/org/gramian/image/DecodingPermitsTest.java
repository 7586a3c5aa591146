package org.gramian.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.gramian.image.ImageReader.DecodingPermits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class DecodingPermitsTest {
    private static final int THREADS = 4;

    private final DecodingPermits turns = new DecodingPermits();
    private final AtomicInteger decoding = new AtomicInteger();
    private final CountDownLatch crowd = new CountDownLatch(THREADS);

    /** Runs out of memory the first time, when all are at it; the second time it says how many are. */
    private Supplier<Integer> needy() {
        AtomicInteger tries = new AtomicInteger();
        return () -> {
            int others = decoding.incrementAndGet();
            try {
                if (tries.getAndIncrement() == 0) {
                    crowd.countDown();
                    crowd.await();
                    throw new OutOfMemoryError("made up");
                }
                return others;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                decoding.decrementAndGet();
            }
        };
    }

    @Test
    void retriesAloneAfterLackOfMemory() throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(THREADS)) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Supplier<Integer> work = needy();
                results.add(pool.submit(() -> turns.take(work)));
            }
            for (Future<Integer> result : results) {
                assertThat(result.get()).isOne();
            }
        }
    }

    @Test
    void failsAfterLackOfMemoryAlone() {
        AtomicInteger tries = new AtomicInteger();
        Supplier<Integer> hopeless = () -> {
            tries.incrementAndGet();
            throw new OutOfMemoryError("made up");
        };
        assertRejected(OutOfMemoryError.class, () -> turns.take(hopeless));
        assertThat(tries).hasValue(2);
        assertThat(turns.take(() -> 5)).isEqualTo(5);
    }
}
