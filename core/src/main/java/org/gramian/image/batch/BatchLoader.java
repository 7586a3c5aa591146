package org.gramian.image.batch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Function;
import org.gramian.tensor.Shape;

/**
 * Loads images ahead of the one who uses them: several threads decode, batches come out in the order of the list.
 *
 * <p>The same list gives the same batches for any number of threads. Memory is bounded, however long the list is: {@code
 * ahead} batches, which are used over and over, and one decoded image for each thread of {@link Prefetch}. An image that
 * cannot be read keeps its place, with the reason; any other failure of a thread is thrown by {@link #next}.
 *
 * <p>It is used by one thread. {@link #close} stops the others and waits for them: for the time that one image takes.
 */
public final class BatchLoader implements Iterator<Batch>, AutoCloseable {
    /** What tensors are aligned to, and the processor's caches. */
    private static final long ALIGNMENT = 64;

    private final Arena arena = Arena.ofShared();
    private final BatchQueue queue;
    private final Shape shape;
    private final List<Thread> threads = new ArrayList<>();
    private long left;

    /** Writes one crop of a batch. */
    @FunctionalInterface
    public interface CropWriter {
        /**
         * Called once for each crop, by several threads at once.
         *
         * @param index of the crop in the order of the epoch
         * @param slot {@code [3, size, size]} in single precision
         */
        void write(int index, MemorySegment slot);
    }

    /**
     * Starts loading.
     *
     * @param list must not change; it is asked by several threads, and may make its elements as they are asked for
     */
    public BatchLoader(Rendering rendering, List<Work> list, Prefetch prefetch) {
        this(
                list.stream().mapToLong(work -> work.crops().size()).sum(),
                rendering.crops().size(),
                prefetch,
                queue -> new Worker(list.size(), new DecodedWork(rendering, list, queue), queue));
    }

    /**
     * Starts filling batches with crops that a writer renders, for instance from images that are decoded already.
     *
     * @param crops number of crops
     * @param size columns and rows of each
     */
    public BatchLoader(int crops, int size, Prefetch prefetch, CropWriter writer) {
        this(crops, size, prefetch, queue -> new Worker(crops, index -> fill(queue, index, writer), queue));
    }

    private static void fill(BatchQueue queue, int index, CropWriter writer) throws InterruptedException {
        Optional<MemorySegment> slot = queue.slot(index);
        if (slot.isPresent()) {
            writer.write(index, slot.get());
            queue.filled(index, new Place(index, 0, Optional.empty()));
        }
    }

    private BatchLoader(long crops, int size, Prefetch prefetch, Function<BatchQueue, Worker> workers) {
        this.shape = Shape.of(prefetch.batch(), 3, size, size);
        this.left = Math.ceilDiv(crops, prefetch.batch());
        List<MemorySegment> buffers = new ArrayList<>();
        for (long i = 0; i < Math.min(prefetch.ahead(), left); i++) {
            buffers.add(allocate(prefetch, 3L * size * size * Float.BYTES));
        }
        this.queue = new BatchQueue(crops, prefetch.batch(), buffers);
        Worker worker = workers.apply(queue);
        for (int i = 0; i < Math.min(prefetch.threads(), worker.count()); i++) {
            // Platform threads, for decoding computes; daemons, so that they never keep a program from ending.
            Thread.Builder kind =
                    Thread.ofPlatform().name("gramian-pictures-" + i).daemon();
            threads.add(kind.start(worker::run));
        }
    }

    /** @throws IllegalStateException if there is not so much memory; nothing of it stays in use then */
    private MemorySegment allocate(Prefetch prefetch, long cropBytes) {
        long bytes = Math.multiplyExact(prefetch.batch(), cropBytes);
        try {
            return arena.allocate(bytes, ALIGNMENT);
        } catch (OutOfMemoryError scarce) {
            arena.close();
            throw new IllegalStateException(
                    "expected memory for " + prefetch.ahead() + " batches of " + (bytes >> 20)
                            + " MiB each, found less;" + " use smaller batches or crops, or fewer prefetched batches",
                    scarce);
        }
    }

    @Override
    public boolean hasNext() {
        return left > 0;
    }

    /**
     * The next batch, once it is complete; close it before more than {@code ahead} are in use.
     *
     * @throws IllegalStateException if loading failed, if this thread is interrupted, or if all batches are in use
     */
    @Override
    public Batch next() {
        if (left == 0) {
            throw new NoSuchElementException("all batches have been taken");
        }
        try {
            BatchQueue.Taken taken = queue.take();
            left--;
            return new Batch(taken.buffer(), shape, taken.places(), () -> queue.release(taken.buffer()));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for images", interrupted);
        }
    }

    @Override
    public void close() {
        queue.stop(null);
        threads.forEach(Thread::interrupt);
        boolean interrupted = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join();
                } catch (InterruptedException _) {
                    interrupted = true; // the memory must not be freed before the threads are gone
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
