package org.gramian.image.batch;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.gramian.basis.ParallelLoop;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult.Readable;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.crop.Crops;
import org.gramian.image.dataset.Sample;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Prefetches batches: several threads decode, batches come out in the order of the list.
 *
 * <p>The same list gives the same batches for any number of threads. Memory is bounded, however long the list is: {@code
 * ahead} batches, which are reused, and one decoded image for each thread of {@link Prefetch}. An unreadable image keeps its
 * slot, with the reason; any other failure of a thread is thrown by {@link #next}.
 *
 * <p>Used by one thread. {@link #close} stops the decoding threads and waits until each has finished its image.
 */
public final class BatchLoader implements Iterator<BatchLoader.Batch>, AutoCloseable {
    private static final long ALIGNMENT = 64;

    private final Arena arena = Arena.ofShared();
    private final BatchQueue queue;
    private final Shape shape;
    private final List<Thread> threads = new ArrayList<>();
    private long left;

    public record Prefetch(int batch, int threads, int ahead) {
        public Prefetch {
            if (batch < 1 || threads < 1 || ahead < 1) {
                throw new IllegalArgumentException(
                        "expected at least 1 crop per batch, 1 thread and 1 prefetched batch, found " + batch + ", "
                                + threads + " and " + ahead);
            }
        }

        /** Uses three batches: one in use, one ready, one being filled. */
        public static Prefetch of(int batch, int threads) {
            return new Prefetch(batch, threads, 3);
        }
    }

    /**
     * An image to load and the crops to take from it; the image is decoded once.
     *
     * @param crops indexes of its crops, in order; at least one
     */
    public record LoadRequest(Sample sample, List<Integer> crops) {
        public LoadRequest {
            crops = List.copyOf(crops);
        }

        /** Returns all crops of all images, in order. */
        public static List<LoadRequest> all(List<Sample> samples, Crops crops) {
            List<Integer> every = IntStream.range(0, crops.count()).boxed().toList();
            return samples.stream()
                    .map(sample -> new LoadRequest(sample, every))
                    .toList();
        }
    }

    public record BatchSlot(int request, int crop, Optional<Unreadable> problem) {}

    /**
     * A batch of crops in float32, {@code [n, 3, size, size]}; slots after the last of {@link #slots()} are zero.
     *
     * <p>Closing it releases its memory for another batch: do not use results of {@link #memory} and {@link #tensor} after that, nor
     * after the loader is closed; this is not checked.
     */
    public static final class Batch implements AutoCloseable {
        private final MemorySegment memory;
        private final Shape shape;
        private final List<BatchSlot> slots;
        private final Runnable release;
        private boolean closed;

        Batch(MemorySegment memory, Shape shape, List<BatchSlot> slots, Runnable release) {
            this.memory = memory;
            this.shape = shape;
            this.slots = List.copyOf(slots);
            this.release = release;
        }

        /** Returns the crops in the batch, in order; fewer than the batch size only at the end of a list. */
        public List<BatchSlot> slots() {
            return slots;
        }

        public MemorySegment memory() {
            requireOpen();
            return memory;
        }

        /** Returns {@code [n, 3, size, size]}, padding included. */
        public Shape shape() {
            return shape;
        }

        /** Returns a view of the memory as a tensor, in the current scope. */
        public Tensor tensor() {
            requireOpen();
            return Tensors.viewOf(memory, DType.F32, shape);
        }

        private void requireOpen() {
            if (closed) {
                throw new IllegalStateException("this batch was closed: its memory belongs to another one");
            }
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                release.run();
            }
        }
    }

    /** Returns the numbers of the training images, below a count, in the order of an epoch. */
    public static int[] shuffled(int count, long seed, long epoch) {
        // Hashed by a generator each: neighbouring seeds of SplittableRandom may give shifted sequences.
        RandomGenerator random =
                new SplittableRandom(new SplittableRandom(seed).nextLong() ^ new SplittableRandom(~epoch).nextLong());
        int[] order = IntStream.range(0, count).toArray();
        for (int i = count - 1; i > 0; i--) { // with the draws of Collections.shuffle
            int other = random.nextInt(i + 1);
            int moved = order[i];
            order[i] = order[other];
            order[other] = moved;
        }
        return order;
    }

    @FunctionalInterface
    private interface Loading {
        void load(int item, BatchQueue queue) throws InterruptedException;
    }

    public BatchLoader(Rendering rendering, List<LoadRequest> list, Prefetch prefetch) {
        this(rendering, list.size(), list::get, prefetch);
    }

    /** Starts loading a number of requests, which several threads create when they need them. */
    public BatchLoader(Rendering rendering, int count, IntFunction<LoadRequest> requests, Prefetch prefetch) {
        this(
                rendering,
                count,
                i -> ImageSource.of(requests.apply(i).sample(), rendering.reader()),
                i -> requests.apply(i).crops(),
                prefetch);
    }

    /** Starts loading all crops of images; the reader of the rendering is not used. */
    public BatchLoader(List<ImageSource> images, Rendering rendering, Prefetch prefetch) {
        List<Integer> every =
                IntStream.range(0, rendering.crops().count()).boxed().toList();
        this(rendering, images.size(), images::get, _ -> every, prefetch);
    }

    /**
     * Starts filling batches with crops of {@code size×size} pixels, for instance of images that are decoded already.
     *
     * @param writer writes crop i of the epoch to a slot of {@code [3, size, size]} floats; called by several threads at once
     */
    public BatchLoader(int crops, int size, Prefetch prefetch, ObjIntConsumer<MemorySegment> writer) {
        this(crops, crops, size, prefetch, (index, queue) -> {
            Optional<MemorySegment> slot = queue.slot(index);
            if (slot.isPresent()) {
                writer.accept(slot.get(), index);
                queue.filled(index, new BatchSlot(index, 0, Optional.empty()));
            }
        });
    }

    private BatchLoader(
            Rendering rendering,
            int count,
            IntFunction<ImageSource> images,
            IntFunction<List<Integer>> crops,
            Prefetch prefetch) {
        long[] starts = new long[count + 1]; // number of the first crop of each image
        for (int i = 0; i < count; i++) {
            starts[i + 1] = starts[i] + crops.apply(i).size();
        }
        this(count, starts[count], rendering.crops().size(), prefetch, (index, queue) -> {
            ImageSource source = images.apply(index);
            List<Integer> wanted = crops.apply(index);
            Optional<Unreadable> problem = Optional.empty();
            ObjIntConsumer<MemorySegment> content = (slot, _) -> slot.fill((byte) 0);
            switch (rendering.crops().validate(source.reader().get(), source.box())) {
                case Unreadable unreadable -> problem = Optional.of(unreadable);
                case Readable(Image image, var _) -> content = rendering.writer(image, source.name(), wanted);
            }
            for (int i = 0; i < wanted.size(); i++) {
                Optional<MemorySegment> slot = queue.slot(starts[index] + i);
                if (slot.isEmpty()) {
                    return;
                }
                content.accept(slot.get(), i);
                queue.filled(starts[index] + i, new BatchSlot(index, wanted.get(i), problem));
            }
        });
    }

    private BatchLoader(int items, long crops, int size, Prefetch prefetch, Loading loading) {
        this.shape = Shape.of(prefetch.batch(), 3, size, size);
        this.left = Math.ceilDiv(crops, prefetch.batch());
        List<MemorySegment> buffers = new ArrayList<>();
        for (long i = 0; i < Math.min(prefetch.ahead(), left); i++) {
            buffers.add(allocate(prefetch, 3L * size * size * Float.BYTES));
        }
        this.queue = new BatchQueue(crops, prefetch.batch(), buffers);
        AtomicInteger next = new AtomicInteger();
        for (int i = 0; i < Math.min(prefetch.threads(), items); i++) {
            threads.add(Thread.ofPlatform()
                    .name("gramian-images-" + i)
                    .daemon()
                    .start(() -> load(items, next, loading, queue)));
        }
    }

    /** Work of a decoding thread: loads the next item until none is left or loading stops. */
    private static void load(int items, AtomicInteger next, Loading loading, BatchQueue queue) {
        try {
            for (int item = next.getAndIncrement(); item < items && queue.open(); item = next.getAndIncrement()) {
                loading.load(item, queue);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // only the loader interrupts, after it stopped the queue
        } catch (Throwable thrown) { // or the consumer would wait for ever
            queue.stop(thrown);
        }
    }

    /** @throws IllegalArgumentException if memory is insufficient; frees what was allocated */
    private MemorySegment allocate(Prefetch prefetch, long cropBytes) {
        long bytes = Math.multiplyExact(prefetch.batch(), cropBytes);
        try {
            return arena.allocate(bytes, ALIGNMENT);
        } catch (OutOfMemoryError scarce) {
            arena.close();
            throw new IllegalArgumentException(
                    "expected memory for " + prefetch.ahead() + " batches of " + (bytes >> 20)
                            + " MiB each, found less;" + " use smaller batches or crops, or fewer prefetched batches",
                    scarce);
        }
    }

    @Override
    public boolean hasNext() {
        return left > 0;
    }

    /** Returns the next batch when it is complete; at most {@code ahead} batches may be open. */
    @Override
    public Batch next() {
        if (left == 0) {
            throw new NoSuchElementException("all batches have been taken");
        }
        try {
            Opened taken = queue.take();
            left--;
            return new Batch(taken.buffer, shape, Arrays.asList(taken.slots), () -> queue.release(taken.buffer));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for images", interrupted);
        }
    }

    @Override
    public void close() {
        queue.stop(null);
        threads.forEach(Thread::interrupt);
        ParallelLoop.join(threads); // the memory must not be freed before the threads are gone
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }

    private static final class Opened {
        final MemorySegment buffer;
        final BatchSlot[] slots;
        int missing;

        Opened(MemorySegment buffer, int size) {
            this.buffer = buffer;
            this.slots = new BatchSlot[size];
            this.missing = size;
        }
    }

    /**
     * Bounded buffer between decoding threads and the thread that consumes batches.
     *
     * <p>Crop {@code p} of the whole list has slot {@code p mod n} of batch {@code p / n}, which does not depend on the timing of
     * threads. Batches are opened in order as buffers become free. A producer waits only for its batch to be opened, hence only for
     * crops of lower numbers, which were all claimed before its own: no deadlock.
     */
    private static final class BatchQueue {
        private final long crops;
        private final int batch;
        private final int buffers;
        private final Deque<MemorySegment> free;
        private final Deque<Opened> opened = new ArrayDeque<>();
        private long taken;
        private boolean stopped;
        private @Nullable Throwable failure;

        BatchQueue(long crops, int batch, List<MemorySegment> buffers) {
            this.crops = crops;
            this.batch = batch;
            this.buffers = buffers.size();
            this.free = new ArrayDeque<>(buffers);
        }

        /** Returns the memory for a crop when its batch is opened; empty when loading has stopped. */
        synchronized Optional<MemorySegment> slot(long crop) throws InterruptedException {
            while (!stopped) {
                if (crop / batch < taken + opened.size()) {
                    MemorySegment buffer = of(crop).buffer;
                    long bytes = buffer.byteSize() / batch;
                    return Optional.of(buffer.asSlice(crop % batch * bytes, bytes));
                }
                if (free.isEmpty()) {
                    wait();
                } else {
                    open(free.pop());
                }
            }
            return Optional.empty();
        }

        private void open(MemorySegment buffer) {
            long first = (taken + opened.size()) * batch;
            int size = (int) Math.min(batch, crops - first);
            buffer.asSlice(buffer.byteSize() / batch * size).fill((byte) 0);
            opened.add(new Opened(buffer, size));
        }

        private Opened of(long crop) {
            return opened.stream().skip(crop / batch - taken).findFirst().orElseThrow();
        }

        synchronized void filled(long crop, BatchSlot slot) {
            if (!stopped) {
                Opened target = of(crop);
                target.slots[(int) (crop % batch)] = slot;
                target.missing--;
                if (target.missing == 0) {
                    notifyAll();
                }
            }
        }

        synchronized Opened take() throws InterruptedException {
            while (!stopped) {
                Opened first = opened.peek();
                if (first != null && first.missing == 0) {
                    taken++;
                    return opened.remove();
                }
                if (first == null && free.isEmpty()) {
                    throw new IllegalStateException(
                            "all " + buffers + " batches are in use: close one before requesting the next");
                }
                wait();
            }
            throw new IllegalStateException(
                    failure == null ? "loading was cancelled" : "images could not be loaded: " + failure, failure);
        }

        synchronized boolean open() {
            return !stopped;
        }

        synchronized void release(MemorySegment buffer) {
            free.add(buffer);
            notifyAll();
        }

        /** Ends all waiting; the failure, if any, is passed on to the consumer. */
        synchronized void stop(@Nullable Throwable thrown) {
            if (!stopped) {
                stopped = true;
                failure = thrown;
                notifyAll();
            }
        }
    }
}
