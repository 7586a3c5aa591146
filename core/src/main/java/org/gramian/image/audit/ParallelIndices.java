package org.gramian.image.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.function.LongConsumer;

/** Parallel for loop over indices with dynamic scheduling: each thread takes the next index when it is free. */
final class ParallelIndices {
    private final int count;
    private final LongConsumer progress;
    private final IntConsumer work;
    private int next;
    private long done;

    private ParallelIndices(int count, LongConsumer progress, IntConsumer work) {
        this.count = count;
        this.progress = progress;
        this.work = work;
    }

    /**
     * Calls a function for every index and waits for all of them. After an exception no further index is started, and
     * the exception is rethrown.
     *
     * @param count number of indices: 0 to {@code count - 1}
     * @param progress receives the number of finished indices, one call at a time
     */
    static void forEach(int count, int threads, LongConsumer progress, IntConsumer work) throws InterruptedException {
        ParallelIndices workers = new ParallelIndices(count, progress, work);
        int started = Math.clamp(count, 1, threads);
        ExecutorService pool = Executors.newFixedThreadPool(started);
        try {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < started; i++) {
                running.add(pool.submit(workers::run));
            }
            for (Future<?> thread : running) {
                thread.get();
            }
        } catch (ExecutionException failed) {
            switch (failed.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw new IllegalStateException(failed);
            }
        } finally {
            workers.stop();
            pool.shutdownNow();
        }
    }

    private void run() {
        try {
            for (int index = take(); index >= 0; index = take()) {
                work.accept(index);
                finished();
            }
        } finally {
            stop(); // has an effect only after an exception
        }
    }

    private synchronized int take() {
        return next < count ? next++ : -1;
    }

    private synchronized void stop() {
        next = count;
    }

    private synchronized void finished() {
        progress.accept(++done);
    }
}
