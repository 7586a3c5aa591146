package org.gramian.serve;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;
import org.gramian.explain.CroppedImage;
import org.gramian.image.Image;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.image.batch.Rendering;
import org.gramian.model.Engine;

/**
 * From the bytes of an image to its rows: a few threads decode, images of different requests in turns; each image's crops
 * go to the queue of what is computed.
 *
 * <p>An image waits as the bytes that it came as. Only so many are decoded and not computed yet as keep the computing thread
 * busy, so that memory does not grow with the number of those who wait.
 */
final class Pipeline {
    private final WorkQueue queue;
    private final Function<byte[], ReadResult> reader;
    private final FairThreads decoders;
    private final Semaphore ahead;

    Pipeline(WorkQueue queue, Limits.Load load, Function<byte[], ReadResult> reader) {
        int threads = Runtime.getRuntime().availableProcessors();
        this.queue = queue;
        this.reader = reader;
        this.decoders = new FairThreads(threads, "gramian-decode-");
        // A batch that is computed, one that is complete, and what the threads have in hand.
        this.ahead = new Semaphore(2 * load.batch() + threads);
    }

    /**
     * Begins with the images of a request. Whoever gives up waiting completes the future, and the work is left undone.
     */
    List<CompletableFuture<Order.Outcome>> begin(List<Order> orders) {
        List<CompletableFuture<Order.Outcome>> outcomes = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        for (Order order : orders) {
            CompletableFuture<Order.Outcome> outcome = new CompletableFuture<>();
            // Whoever asks may give up, and the model be replaced, while a thread still works on it.
            ModelSlot.Lease lease = order.lease().share();
            outcomes.add(outcome);
            tasks.add(() -> {
                try (lease) {
                    decode(order, outcome);
                }
            });
        }
        decoders.execute(tasks);
        return outcomes;
    }

    /** Has something computed alone, between two batches, and for the request that ends first before the others. */
    <T> CompletableFuture<T> alone(ModelSlot.Lease lease, Deadline end, Supplier<T> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        queue.add(new Work.Alone(lease.share(), () -> done.complete(work.get()), done, end));
        return done;
    }

    private void decode(Order order, CompletableFuture<Order.Outcome> outcome) {
        try {
            ahead.acquire();
            var _ = outcome.whenComplete((_, _) -> ahead.release());
            if (!outcome.isDone()) {
                switch (order.model().rendering().crops().seen(reader.apply(order.content()))) {
                    case Unreadable(Problem problem, var _)
                    when problem == Problem.NO_MEMORY -> throw HttpError.noMemory();
                    case Unreadable reason -> outcome.complete(new Order.Unread(reason));
                    case ReadResult.Readable(Image image, var _) -> compute(order, image, outcome);
                }
            }
        } catch (Throwable failed) { // whatever it is, nobody must wait for ever
            outcome.completeExceptionally(failed);
        }
    }

    private void compute(Order order, Image image, CompletableFuture<Order.Outcome> outcome) throws HttpError {
        Rendering rendering = order.model().rendering();
        float[] crops =
                new float[Math.toIntExact(rendering.bytes() * rendering.crops().count() / Float.BYTES)];
        // Test crops do not depend on a name: none of them is drawn.
        rendering.write(image, "", MemorySegment.ofArray(crops));
        Optional<CroppedImage> kept = view(order, image);
        CompletableFuture<Map<Engine.Rows, float[][]>> rows = new CompletableFuture<>();
        var _ = rows.whenComplete((computed, failed) -> {
            if (failed == null) {
                outcome.complete(new Order.Computed(computed, kept));
            } else {
                outcome.completeExceptionally(failed);
            }
        });
        var _ = outcome.whenComplete((_, _) -> rows.cancel(false));
        queue.add(new Work.Crops(order.lease().share(), order.wish().rows(), crops, rows));
    }

    /** What is kept of an image: a large one itself would fill memory while it waits for its explanation. */
    private static Optional<CroppedImage> view(Order order, Image image) throws HttpError {
        if (!order.wish().explained()) {
            return Optional.empty();
        }
        CroppedImage view = CroppedImage.of(image, order.model().header().card());
        order.ticket().bytes(view.bytes());
        return Optional.of(view);
    }

    /** Ends the threads once they have done what they were given, but does not wait longer than told. */
    void close(Duration longest) {
        decoders.close(longest);
    }
}
