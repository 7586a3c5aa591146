package org.gramian.image.batch;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Work of a decoding thread: takes the next image, decodes it and writes its crops to their slots, until no image is left.
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
        } catch (Throwable thrown) { // whatever it is, the taker must not wait for ever
            queue.stop(thrown);
        }
    }
}
