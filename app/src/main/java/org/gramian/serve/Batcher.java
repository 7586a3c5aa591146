package org.gramian.serve;

import java.time.Duration;
import java.util.List;
import org.gramian.model.Classifier;
import org.gramian.model.ImageResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that computes: it takes batches from a queue and hands every image its rows.
 *
 * <p>One, because a batch has all cores through libtorch already; decoding, which other threads do meanwhile, costs a small
 * part of what a network does. A batch that fails fails for its own images only.
 */
final class Batcher {
    private static final Logger LOG = LoggerFactory.getLogger(Batcher.class);

    private final WorkQueue queue;
    private final Listener listener;
    private final Thread thread;

    /** Is told of what was done. */
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
            } catch (Throwable failed) { // even telling of a failure may fail; without this thread nobody is answered
                report(failed);
            }
        }
    }

    private static void report(Throwable failed) {
        try {
            LOG.error("a batch failed; the server continues with the next one", failed);
        } catch (Throwable _) {
            // As when there is no memory left even for a line: the next batch is worth more than the line.
        }
    }

    /** Whether it computes still. */
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
        } catch (Throwable failed) { // whatever it is, nobody must wait for ever, and the next batch gets its chance
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

    /** Computes what is left in the queue, and ends; does not wait longer for it than told. */
    void close(Duration longest) {
        queue.close();
        try {
            var _ = thread.join(longest);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
