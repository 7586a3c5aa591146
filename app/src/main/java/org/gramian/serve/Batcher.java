package org.gramian.serve;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.gramian.model.Engine;
import org.gramian.tensor.Shape;
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

    /** What tensors are aligned to, and the processor's caches. */
    private static final long ALIGNMENT = 64;

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
        int each = first.count();
        int size = first.model().header().card().crops().size();
        int crops = each * batch.size();
        Map<Engine.Rows, float[][]> rows;
        try (Arena arena = Arena.ofConfined()) {
            long bytes = (long) Float.BYTES * first.crops().length;
            MemorySegment memory = arena.allocate(bytes * batch.size(), ALIGNMENT);
            for (int i = 0; i < batch.size(); i++) {
                float[] numbers = batch.get(i).crops();
                MemorySegment.copy(numbers, 0, memory, ValueLayout.JAVA_FLOAT, i * bytes, numbers.length);
            }
            rows = first.model().computing().engine().compute(memory, Shape.of(crops, 3, size, size), first.wanted());
        }
        listener.computed(batch.size(), crops, Duration.ofNanos(System.nanoTime() - start));
        for (int i = 0; i < batch.size(); i++) {
            int from = i * each;
            Map<Engine.Rows, float[][]> own = new EnumMap<>(Engine.Rows.class);
            rows.forEach((kind, all) -> own.put(kind, Arrays.copyOfRange(all, from, from + each)));
            batch.get(i).rows().complete(own);
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
