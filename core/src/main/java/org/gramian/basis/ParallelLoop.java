package org.gramian.basis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Parallel for loop over indices with dynamic scheduling: each thread takes the next index when it is free. */
public final class ParallelLoop {
    private ParallelLoop() {}

    /**
     * Calls a function for every index from 0 to {@code count - 1} and waits for all calls. After an exception, of the function or
     * of {@code progress}, no further index is started, and the exception is thrown once all threads have ended.
     *
     * @param progress receives the number of finished indices, on the calling thread
     */
    public static void forEach(int count, int threads, LongConsumer progress, IntConsumer work)
            throws InterruptedException {
        AtomicInteger next = new AtomicInteger();
        Semaphore finished = new Semaphore(0);
        AtomicReference<@Nullable Throwable> failed = new AtomicReference<>();
        Runnable worker = () -> {
            for (int i = next.getAndIncrement(); i < count; i = next.getAndIncrement()) {
                try {
                    work.accept(i);
                } catch (Throwable failure) {
                    failed.compareAndSet(null, failure);
                } finally { // allocates nothing: without memory the calling thread must not wait for ever
                    finished.release();
                }
            }
        };
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < Math.min(threads, count); i++) {
            started.add(Thread.ofPlatform().name("gramian-worker-" + i).daemon().start(worker));
        }
        try {
            for (int done = 1; done <= count; done++) {
                finished.acquire();
                rethrow(failed.get());
                progress.accept(done);
            }
        } finally {
            next.set(count);
            join(started);
        }
    }

    private static void rethrow(@Nullable Throwable failure) {
        switch (failure) {
            case null -> {}
            case RuntimeException exception -> throw exception;
            case Error error -> throw error;
            default -> throw new IllegalStateException(failure);
        }
    }

    /** Waits for threads to end, even if this thread is interrupted: they may use memory that is freed afterwards. */
    public static void join(List<Thread> threads) {
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
