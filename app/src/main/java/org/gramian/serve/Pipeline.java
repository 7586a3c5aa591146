package org.gramian.serve;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
import org.gramian.image.batch.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.ImageResult;

/**
 * Schedules the steps of a {@link Classifier} for the images of requests: decoding threads read and render them, requests
 * taking turns; the rendered images go to the work queue.
 *
 * <p>A waiting image is kept as its encoded bytes. The number of images that are decoded but not computed is bounded by what
 * keeps the computing thread busy, so that memory does not grow with the number of waiting requests.
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
        // One batch being computed, one complete, and one image per thread.
        this.ahead = new Semaphore(2 * load.batch() + threads);
    }

    /**
     * Starts the images of a request. Completing a future cancels its work.
     */
    List<CompletableFuture<Order.Outcome>> begin(List<Order> orders) {
        List<CompletableFuture<Order.Outcome>> outcomes = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        for (Order order : orders) {
            CompletableFuture<Order.Outcome> outcome = new CompletableFuture<>();
            // A request may end, and the model be replaced, while a thread still works on its image.
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

    /** Runs a task on the computing thread between two batches, earliest deadline first. */
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
                Classifier classifier = order.model().classifier();
                switch (classifier.read(ImageSource.of("upload", () -> reader.apply(order.content())))) {
                    case Unreadable(Problem problem, var _)
                    when problem == Problem.NO_MEMORY -> throw HttpError.noMemory();
                    case Unreadable reason -> outcome.complete(new Order.Unread(reason));
                    case ReadResult.Readable(Image image, var _) -> compute(order, image, outcome);
                }
            }
        } catch (Throwable failed) { // every request ends
            outcome.completeExceptionally(failed);
        }
    }

    private void compute(Order order, Image image, CompletableFuture<Order.Outcome> outcome) throws HttpError {
        float[] crops = order.model().classifier().render(image);
        Optional<CroppedImage> kept = view(order, image);
        CompletableFuture<ImageResult.Computed> result = new CompletableFuture<>();
        var _ = result.whenComplete((computed, failed) -> {
            if (failed == null) {
                outcome.complete(new Order.Computed(computed, kept));
            } else {
                outcome.completeExceptionally(failed);
            }
        });
        var _ = outcome.whenComplete((_, _) -> result.cancel(false));
        queue.add(new Work.Crops(order.lease().share(), order.wish().rows(), crops, result));
    }

    /** Returns the input of the explanation: keeping the decoded image would take more memory. */
    private static Optional<CroppedImage> view(Order order, Image image) throws HttpError {
        if (!order.wish().explained()) {
            return Optional.empty();
        }
        CroppedImage view = CroppedImage.of(image, order.model().header().card());
        order.ticket().bytes(view.bytes());
        return Optional.of(view);
    }

    /** Stops the threads after their tasks; waits at most this long. */
    void close(Duration longest) {
        decoders.close(longest);
    }
}
