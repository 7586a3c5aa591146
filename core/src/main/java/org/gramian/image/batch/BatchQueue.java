package org.gramian.image.batch;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Bounded buffer between decoding threads and the thread that consumes batches.
 *
 * <p>Crop {@code p} of the whole list has slot {@code p mod n} of batch {@code p / n}, which does not depend on the timing of
 * threads. Batches are opened in order as buffers become free. A producer waits only for its batch to be opened, hence only for
 * crops of lower numbers, which were all claimed before its own: no deadlock.
 */
final class BatchQueue {
    /** A batch being filled, or complete and waiting to be taken. */
    private static final class Opened {
        final MemorySegment buffer;
        final @Nullable BatchSlot[] slots;
        int missing;

        Opened(MemorySegment buffer, int size) {
            this.buffer = buffer;
            this.slots = new BatchSlot[size];
            this.missing = size;
        }
    }

    /**
     * A complete batch.
     *
     * @param slots the crops in the buffer
     */
    record Taken(MemorySegment buffer, List<BatchSlot> slots) {}

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
        long ahead = crop / batch - taken;
        return opened.stream().skip(ahead).findFirst().orElseThrow();
    }

    /** Marks a crop as written. */
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

    /** Waits for the next batch to be complete. */
    synchronized Taken take() throws InterruptedException {
        while (!stopped) {
            Opened first = opened.peek();
            if (first != null && first.missing == 0) {
                opened.remove();
                taken++;
                return new Taken(first.buffer, new ArrayList<>(Arrays.asList(first.slots)));
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
