package org.gramian.serve;

import java.time.Duration;
import java.util.List;
import org.gramian.model.Classifier;
import org.gramian.model.ImageResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The computing thread: takes batches from the queue, runs the classifier, completes the result of each image.
 *
 * <p>It is one thread because libtorch uses all cores for a batch; decoding, on other threads, costs little beside it. A batch
 * that fails does not affect other batches.
 */
final class Batcher {
    private static final Logger LOG = LoggerFactory.getLogger(Batcher.class);

    private final WorkQueue queue;
    private final Listener listener;
    private final Thread thread;

    /** Receives the size and time of each batch. */
    @FunctionalInterface
    interface Listener {
        void computed(int images, int crops, Duration time);
    }

    Batcher(WorkQueue queue, Listener listener) {
        this.queue = queue;
        this.listener = listener;
        this.thread = Thread.ofPlatform().name("gramian-compute").daemon().start(this::run);
    }

    private void run() {
        boolean more = true;
        while (more) {
            try {
                List<Work> batch = queue.take();
                more = !batch.isEmpty();
                if (more) {
                    compute(batch);
                }
            } catch (InterruptedException _) {
                more = false;
            } catch (Throwable failed) { // reporting may fail too; without this thread no request is served
                report(failed);
            }
        }
    }

    private static void report(Throwable failed) {
        try {
            LOG.error("a batch failed; the server continues with the next one", failed);
        } catch (Throwable _) {
            // E.g. no memory for a log line: the next batch is more important.
        }
    }

    /** Returns whether the thread runs. */
    boolean isAlive() {
        return thread.isAlive();
    }

    private void compute(List<Work> batch) {
        try {
            if (batch.getFirst() instanceof Work.Alone alone) {
                alone.work().run();
            } else {
                computeCrops(batch.stream().map(work -> (Work.Crops) work).toList());
            }
        } catch (Throwable failed) { // every request ends, and the next batch is computed
            batch.forEach(work -> work.fail(failed));
        } finally {
            batch.forEach(work -> work.lease().close());
        }
    }

    private void computeCrops(List<Work.Crops> batch) {
        long start = System.nanoTime();
        Work.Crops first = batch.getFirst();
        Classifier classifier = first.model().classifier();
        List<ImageResult.Computed> results =
                classifier.compute(batch.stream().map(Work.Crops::crops).toList(), first.wanted());
        int crops = classifier.crops() * batch.size();
        listener.computed(batch.size(), crops, Duration.ofNanos(System.nanoTime() - start));
        for (int i = 0; i < batch.size(); i++) {
            batch.get(i).result().complete(results.get(i));
        }
    }

    /** Computes the rest of the queue and stops; waits at most this long. */
    void close(Duration longest) {
        queue.close();
        try {
            var _ = thread.join(longest);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
