package org.gramian.serve;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A few threads that requests take turns at, so that one with much to do does not hold up the others.
 *
 * <p>The first task of a request belongs to the round that the threads have come to, its second to the next round, and so on;
 * the lowest round is done first. So a request that comes waits for one task of each of the others, and nobody is passed for
 * ever by those who come later.
 */
final class FairThreads {
    private final AtomicLong reached = new AtomicLong();
    private final AtomicLong numbers = new AtomicLong();
    private final ThreadPoolExecutor threads;

    /** A task with its place in the order. */
    private record Task(long round, long number, Runnable work) implements Runnable, Comparable<Task> {
        private static final Comparator<Task> ORDER =
                Comparator.comparingLong(Task::round).thenComparingLong(Task::number);

        @Override
        public void run() {
            work.run();
        }

        @Override
        public int compareTo(Task other) {
            return ORDER.compare(this, other);
        }
    }

    /** @param name what the names of the threads begin with */
    FairThreads(int count, String name) {
        threads = new ThreadPoolExecutor(
                count,
                count,
                0,
                TimeUnit.SECONDS,
                new PriorityBlockingQueue<>(),
                Thread.ofPlatform().name(name, 0).daemon().factory());
    }

    /** Has the tasks of one request done, begun in their order. */
    void execute(List<? extends Runnable> tasks) {
        long round = reached.get();
        for (Runnable task : tasks) {
            long own = round;
            threads.execute(new Task(own, numbers.getAndIncrement(), () -> {
                reached.accumulateAndGet(own, Math::max);
                task.run();
            }));
            round++;
        }
    }

    /** Ends the threads once they have done what they were given, or are told to stop when time is over. */
    void close(Duration longest) {
        threads.shutdown();
        try {
            if (threads.awaitTermination(longest.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        threads.shutdownNow();
    }
}
