package org.gramian.image.batch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.tensor.Shape;

/**
 * Prefetches batches: several threads decode, batches come out in the order of the list.
 *
 * <p>The same list gives the same batches for any number of threads. Memory is bounded, however long the list is: {@code
 * ahead} batches, which are reused, and one decoded image for each thread of {@link Prefetch}. An unreadable image keeps its
 * slot, with the reason; any other failure of a thread is thrown by {@link #next}.
 *
 * <p>Used by one thread. {@link #close} stops the decoding threads and waits until each has finished its image.
 */
public final class BatchLoader implements Iterator<Batch>, AutoCloseable {
    /** Alignment of tensors and cache lines. */
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
     * @param list must not change; several threads read it, and it may create its elements lazily
     */
    public BatchLoader(Rendering rendering, List<LoadRequest> list, Prefetch prefetch) {
        this(
                list.stream().mapToLong(work -> work.crops().size()).sum(),
                rendering.crops().size(),
                prefetch,
                queue -> new Worker(
                        list.size(),
                        new DecodedRequests(
                                rendering,
                                list.size(),
                                i -> ImageSource.of(list.get(i).sample(), rendering.reader()),
                                i -> list.get(i).crops(),
                                queue),
                        queue));
    }

    /**
     * Starts loading all crops of images.
     *
     * @param images must not change; each is read by one of several threads
     * @param rendering crops and preprocessing; its reader is not used
     */
    public BatchLoader(List<ImageSource> images, Rendering rendering, Prefetch prefetch) {
        this((long) images.size() * rendering.crops().count(), rendering.crops().size(), prefetch, queue -> {
            List<Integer> every =
                    IntStream.range(0, rendering.crops().count()).boxed().toList();
            return new Worker(
                    images.size(),
                    new DecodedRequests(rendering, images.size(), images::get, _ -> every, queue),
                    queue);
        });
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
            queue.filled(index, new BatchSlot(index, 0, Optional.empty()));
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
            Thread.Builder kind =
                    Thread.ofPlatform().name("gramian-images-" + i).daemon();
            threads.add(kind.start(worker::run));
        }
    }

    /** @throws IllegalStateException if memory is insufficient; frees what was allocated */
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
     * Returns the next batch when it is complete; at most {@code ahead} batches may be open.
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
            return new Batch(taken.buffer(), shape, taken.slots(), () -> queue.release(taken.buffer()));
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

    /** Work of a decoding thread: takes the next image, decodes it and writes its crops to their slots, until no image is left. */
    private static final class Worker {
        private final int count;
        private final Loading loading;
        private final BatchQueue queue;
        private final AtomicInteger next = new AtomicInteger();

        /** Loads one item: writes its crops to their slots. */
        @FunctionalInterface
        interface Loading {
            void load(int index) throws InterruptedException;
        }

        /** @param count number of items; any number of threads may run the worker */
        Worker(int count, Loading loading, BatchQueue queue) {
            this.count = count;
            this.loading = loading;
            this.queue = queue;
        }

        int count() {
            return count;
        }

        /** Decodes until no image is left or loading stops. */
        void run() {
            try {
                while (queue.open()) {
                    int index = next.getAndIncrement();
                    if (index >= count) {
                        return;
                    }
                    loading.load(index);
                }
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt(); // only the loader interrupts, after it stopped the queue
            } catch (Throwable thrown) { // or the consumer would wait for ever
                queue.stop(thrown);
            }
        }
    }

    /** Decodes an image and writes its crops into their batches. */
    private static final class DecodedRequests implements Worker.Loading {
        private final Rendering rendering;
        private final IntFunction<ImageSource> images;
        private final IntFunction<List<Integer>> crops;
        private final BatchQueue queue;
        /** Number of the first crop of each image. */
        private final long[] starts;

        /**
         * @param images the image at an index
         * @param crops indices of the crops that are loaded of the image at an index
         */
        DecodedRequests(
                Rendering rendering,
                int count,
                IntFunction<ImageSource> images,
                IntFunction<List<Integer>> crops,
                BatchQueue queue) {
            this.rendering = rendering;
            this.images = images;
            this.crops = crops;
            this.queue = queue;
            this.starts = new long[count];
            for (int i = 1; i < starts.length; i++) {
                starts[i] = starts[i - 1] + crops.apply(i - 1).size();
            }
        }

        @Override
        public void load(int index) throws InterruptedException {
            ImageSource source = images.apply(index);
            switch (rendering.crops().seen(source.reader().get(), source.box())) {
                case Unreadable problem -> leaveOut(index, problem);
                case Readable(Image image, var _) ->
                    fill(index, Optional.empty(), rendering.writer(image, source.name(), crops.apply(index)));
            }
        }

        private void leaveOut(int index, Unreadable problem) throws InterruptedException {
            fill(index, Optional.of(problem), (slot, _) -> slot.fill((byte) 0));
        }

        /** @param content receives the slot of each requested crop and its position among them */
        private void fill(int index, Optional<Unreadable> problem, ObjIntConsumer<MemorySegment> content)
                throws InterruptedException {
            List<Integer> wanted = crops.apply(index);
            for (int i = 0; i < wanted.size(); i++) {
                long number = starts[index] + i;
                Optional<MemorySegment> slot = queue.slot(number);
                if (slot.isEmpty()) {
                    return;
                }
                content.accept(slot.get(), i);
                queue.filled(number, new BatchSlot(index, wanted.get(i), problem));
            }
        }
    }
}
