package org.gramian.basis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class ParallelLoopTest {
    @Test
    void runsEveryIndexOnceWithAscendingProgress() throws InterruptedException {
        AtomicIntegerArray done = new AtomicIntegerArray(1000);
        List<Long> reported = new ArrayList<>();
        ParallelLoop.forEach(1000, 7, reported::add, done::incrementAndGet);
        for (int i = 0; i < 1000; i++) {
            assertThat(done.get(i)).isOne();
        }
        assertThat(reported).isEqualTo(LongStream.rangeClosed(1, 1000).boxed().toList());
    }

    @Test
    void failureStopsOtherThreads() {
        AtomicInteger started = new AtomicInteger();
        assertThatThrownBy(() -> ParallelLoop.forEach(1_000_000, 3, _ -> {}, index -> {
                    started.incrementAndGet();
                    if (index == 5) {
                        throw new IllegalStateException("number five");
                    }
                    Thread.onSpinWait();
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("number five");
        assertThat(started.get()).isLessThan(1_000_000);
    }
}
