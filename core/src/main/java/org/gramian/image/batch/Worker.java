package org.gramian.image.batch;

import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.tensor.Niceness;

/**
 * One thread's work: takes the next image, decodes it, writes its crops where they belong, until there is none left.
 *
 * <p>There are two kinds of threads, which take turns. While the taker waits for images, ordinary ones decode. While it
 * computes, on the same cores perhaps, those decode that give way to everything else: in the moments when a core of the
 * computation has nothing to do. Were they alone, a machine that is busy otherwise would never let them come to an end.
 */
final class Worker {
    private final int count;
    private final Loading loading;
    private final BatchQueue queue;
    /** The image that is next. */
    private final AtomicInteger next = new AtomicInteger();

    /** Loads one item: writes its crops where they belong in the queue. */
    @FunctionalInterface
    interface Loading {
        void load(int index) throws InterruptedException;
    }

    /** A worker that any number of threads may run at once, over so many items. */
    Worker(int count, Loading loading, BatchQueue queue) {
        this.count = count;
        this.loading = loading;
        this.queue = queue;
    }

    int count() {
        return count;
    }

    /** While the taker waits. */
    void whileAwaited() {
        decode(true);
    }

    /** While the taker computes; this thread gives way to all others from now on. */
    void meanwhile() {
        Niceness.nicest();
        decode(false);
    }

    private void decode(boolean awaited) {
        try {
            while (queue.turn(awaited)) {
                int index = next.getAndIncrement();
                if (index >= count) {
                    return;
                }
                loading.load(index);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // only the loader interrupts, after it stopped the queue
        } catch (Throwable thrown) { // whatever it is, the taker must not wait for ever
            queue.stop(thrown);
        }
    }
}
