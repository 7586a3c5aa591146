package org.gramian.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FairThreadsTest {
    private final FairThreads threads = new FairThreads(1, "test-");
    private final List<String> done = Collections.synchronizedList(new ArrayList<>());

    private List<Runnable> tasks(String request, int count) {
        return IntStream.range(0, count)
                .<Runnable>mapToObj(i -> () -> done.add(request + i))
                .toList();
    }

    private static void await(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void requestsTakeTurnsHoweverMuchOneOfThemWants() {
        CountDownLatch gate = new CountDownLatch(1);
        threads.execute(List.of(() -> await(gate)));
        threads.execute(tasks("a", 4));
        threads.execute(tasks("b", 1));
        threads.execute(tasks("c", 2));
        gate.countDown();
        threads.close(Duration.ofSeconds(20));
        assertThat(done).containsExactly("a0", "b0", "c0", "a1", "c1", "a2", "a3");
    }

    @Test
    void whoComesLaterBeginsWhereTheOthersAreAndDoesNotPassThemForEver() {
        CountDownLatch came = new CountDownLatch(1);
        List<Runnable> first = new ArrayList<>(tasks("a", 4));
        first.set(2, () -> {
            threads.execute(tasks("late", 3));
            came.countDown();
        });
        threads.execute(first);
        await(came);
        threads.close(Duration.ofSeconds(20));
        assertThat(done).containsExactly("a0", "a1", "late0", "a3", "late1", "late2");
    }

    @Test
    void anEndDoesNotWaitForWhatNeverEnds() {
        CountDownLatch never = new CountDownLatch(1);
        threads.execute(List.of(() -> await(never)));
        long start = System.nanoTime();
        threads.close(Duration.ofMillis(100));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
    }
}
