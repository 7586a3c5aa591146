package org.gramian.tensor.library;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Worker threads whose libtorch operators run on one thread each: several batches in parallel instead of one batch on
 * all threads.
 *
 * <p>Operators of small networks are short, and their threads wait for each other at the end of each; batches are
 * independent. Results do not depend on the number of cores.
 *
 * <p>The number of threads of an operator belongs to the calling thread (OpenMP's {@code nthreads-var}). A new thread
 * copies the process-wide number at its first operator, which {@code at::set_num_threads} changes too: workers trigger
 * the copy, then set their own number, and the opening thread restores the process-wide one.
 */
public final class SingleThreadWorkers implements AutoCloseable {
    /** A thread that other processes slow down leaves its last ranges to the others. */
    private static final int RANGES_PER_THREAD = 4;

    private static final AtomicInteger NUMBER = new AtomicInteger();

    /** Workers of {@link #inRanges} by their number; a process uses few numbers of threads. */
    private static final Map<Integer, SingleThreadWorkers> SHARED = new ConcurrentHashMap<>();

    private final ExecutorService pool;

    private SingleThreadWorkers(ExecutorService pool) {
        this.pool = pool;
    }

    /**
     * Starts workers.
     *
     * @param count at least 1
     */
    public static SingleThreadWorkers open(int count) {
        ExecutorService pool = Executors.newFixedThreadPool(
                count,
                task -> Thread.ofPlatform()
                        .name("gramian-operators-" + NUMBER.incrementAndGet())
                        .daemon()
                        .unstarted(task));
        SingleThreadWorkers workers = new SingleThreadWorkers(pool);
        Libtorch libtorch = Libtorch.load();
        synchronized (SingleThreadWorkers.class) { // the process-wide number is changed and restored by one at a time
            int before = libtorch.threads();
            CountDownLatch ready = new CountDownLatch(count);
            List<Future<Integer>> started = new ArrayList<>();
            try {
                for (int i = 0; i < count; i++) {
                    started.add(pool.submit(() -> {
                        libtorch.threads(); // takes the process-wide number
                        libtorch.setThreads(1);
                        ready.countDown();
                        ready.await(); // so that every worker gets one of these tasks
                        return libtorch.threads();
                    }));
                }
                started.forEach(SingleThreadWorkers::get);
            } catch (RuntimeException | Error failed) {
                pool.shutdownNow();
                throw failed;
            } finally {
                libtorch.setThreads(before);
            }
        }
        return workers;
    }

    /** Work on the elements {@code from} (inclusive) to {@code to} (exclusive). */
    @FunctionalInterface
    public interface RangeWork {
        /** Runs on one thread; {@code range} is the number of the range, from 0 on. */
        void run(int range, int from, int to);
    }

    /** Returns into how many ranges {@link #inRanges} splits so many elements. */
    public static int ranges(int elements) {
        int threads = Libtorch.load().threads();
        return Math.max(1, Math.min(elements, threads == 1 ? 1 : RANGES_PER_THREAD * threads));
    }

    /**
     * Splits elements into contiguous ranges and processes them on the process's shared workers, as many at a time as an
     * operator of the calling thread has threads; a single range on the calling thread. Returns when all are done.
     *
     * @param ranges from {@link #ranges}; which element is in which range depends on it only
     */
    public static void inRanges(int elements, int ranges, RangeWork work) {
        if (ranges == 1) {
            work.run(0, 0, elements);
            return;
        }
        SingleThreadWorkers workers = SHARED.computeIfAbsent(Libtorch.load().threads(), SingleThreadWorkers::open);
        List<Future<Integer>> running = new ArrayList<>();
        for (int i = 0; i < ranges; i++) {
            int range = i;
            running.add(workers.submit(() -> {
                work.run(range, (int) ((long) range * elements / ranges), (int) ((range + 1L) * elements / ranges));
                return range;
            }));
        }
        awaitAll(running);
        running.forEach(SingleThreadWorkers::get);
    }

    /** Waits for all tasks, even if this thread is interrupted: they use memory that the caller frees afterwards. */
    private static void awaitAll(List<? extends Future<?>> tasks) {
        boolean interrupted = false;
        for (int i = 0; i < tasks.size(); ) {
            try {
                Object _ = tasks.get(i).get();
                i++;
            } catch (ExecutionException failed) {
                i++; // reported by get
            } catch (InterruptedException exception) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a task on the next free worker. */
    public <T> Future<T> submit(Callable<T> task) {
        return pool.submit(task);
    }

    /**
     * Waits for a task and returns its result or throws its exception.
     *
     * @throws IllegalStateException if this thread is interrupted
     */
    public static <T> T get(Future<T> task) {
        try {
            return task.get();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a batch was computed", interrupted);
        } catch (ExecutionException failed) {
            switch (failed.getCause()) {
                case RuntimeException exception -> throw exception;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException("a batch could not be computed", failed);
            }
        }
    }

    /** Cancels queued tasks and waits for running ones, which read memory that the caller frees afterwards. */
    @Override
    public void close() {
        pool.shutdownNow();
        pool.close();
    }
}
