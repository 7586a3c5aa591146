package org.gramian.serve;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.gramian.image.Picture;
import org.gramian.image.PictureLimits;
import org.gramian.image.PictureReader;
import org.gramian.image.Reading;
import org.gramian.image.Reading.Unreadable;
import org.gramian.image.batch.Rendering;
import org.gramian.model.Engine;

/**
 * From the bytes of a picture to its rows: a few threads decode, each picture's crops go to the queue of what is computed.
 *
 * <p>A picture waits as the bytes that it came as. Only so many are decoded and not computed yet as keep the computing thread
 * busy, so that memory does not grow with the number of those who wait.
 */
final class Pipeline implements AutoCloseable {
    private final WorkQueue queue;
    private final PictureReader reader;
    private final ExecutorService decoders;
    private final Semaphore ahead;

    Pipeline(WorkQueue queue, Limits limits) {
        int threads = Runtime.getRuntime().availableProcessors();
        this.queue = queue;
        this.reader = new PictureReader(
                new PictureLimits(limits.upload().bytes(), limits.upload().pixels()));
        this.decoders = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().name("gramian-decode-", 0).daemon().factory());
        // A batch that is computed, one that is complete, and what the threads have in hand.
        this.ahead = new Semaphore(2 * limits.load().batch() + threads);
    }

    /** Begins with a picture. Whoever gives up waiting completes the future, and the work is left undone. */
    CompletableFuture<Order.Outcome> begin(Order order) {
        CompletableFuture<Order.Outcome> outcome = new CompletableFuture<>();
        // Whoever asks may give up, and the model be replaced, while a thread still works on it.
        ModelSlot.Lease lease = order.lease().share();
        decoders.execute(() -> {
            try (lease) {
                decode(order, outcome);
            }
        });
        return outcome;
    }

    /** Has something computed alone, between two batches. */
    <T> CompletableFuture<T> alone(ModelSlot.Lease lease, Supplier<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        queue.add(new Work.Alone(lease.share(), () -> done.complete(work.get()), done));
        return done;
    }

    private void decode(Order order, CompletableFuture<Order.Outcome> outcome) {
        try {
            ahead.acquire();
            var _ = outcome.whenComplete((_, _) -> ahead.release());
            if (!outcome.isDone()) {
                switch (order.model().rendering().crops().seen(reader.read(order.content()))) {
                    case Unreadable reason -> outcome.complete(new Order.Unread(reason));
                    case Reading.Readable(Picture picture, var _) -> compute(order, picture, outcome);
                }
            }
        } catch (Throwable failed) { // whatever it is, nobody must wait for ever
            outcome.completeExceptionally(failed);
        }
    }

    private void compute(Order order, Picture picture, CompletableFuture<Order.Outcome> outcome) {
        Rendering rendering = order.model().rendering();
        float[] crops =
                new float[Math.toIntExact(rendering.bytes() * rendering.crops().count() / Float.BYTES)];
        // Test crops do not depend on a name: none of them is drawn.
        rendering.write(picture, "", MemorySegment.ofArray(crops));
        Optional<Picture> kept = order.picture() ? Optional.of(picture) : Optional.empty();
        CompletableFuture<Map<Engine.Rows, float[][]>> rows = new CompletableFuture<>();
        var _ = rows.whenComplete((computed, failed) -> {
            if (failed == null) {
                outcome.complete(new Order.Computed(computed, kept));
            } else {
                outcome.completeExceptionally(failed);
            }
        });
        var _ = outcome.whenComplete((_, _) -> rows.cancel(false));
        queue.add(new Work.Crops(order.lease().share(), order.wanted(), crops, rows));
    }

    /** Ends the threads once they have done what they were given. */
    @Override
    public void close() {
        decoders.close();
    }
}
