package org.gramian.serve;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.gramian.anomaly.Inspection;
import org.gramian.explain.gradient.CroppedImage;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.image.ReadResult;
import org.gramian.image.ReadResult.Problem;
import org.gramian.image.ReadResult.Unreadable;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decodes images on a thread pool and computes them in batches on one thread, since libtorch uses all cores for a batch.
 *
 * <p>Requests take turns at the decoding threads, image by image. The computing thread takes all decoded images up to the batch
 * size and does not wait for a batch to fill. Explanations are computed alone, in turns with batches.
 *
 * <p>A waiting image is kept as its encoded bytes. The number of decoded images is bounded by what keeps the computing thread
 * busy, so that memory does not grow with the number of requests.
 */
final class Batcher {
    private static final Logger LOG = LoggerFactory.getLogger(Batcher.class);

    private final BiFunction<byte[], BooleanSupplier, ReadResult> reader;
    private final int batchSize;
    private final Admission admission;
    private final Meters meters;
    private final ExecutorService decoders;
    private final Semaphore decodedAhead;
    private final Queue<Prepared> images = new ArrayDeque<>();
    private final Queue<Explanation> explanations = new ArrayDeque<>();
    private boolean closed;
    private boolean wasExplanation;
    private final Thread thread;

    /** What to compute for the images of a request. */
    record Job(ModelSlot.Lease lease, Set<Engine.Rows> rows, boolean explain, Admission.Ticket ticket) {}

    sealed interface Outcome {}

    record Unread(Unreadable reason) implements Outcome {}

    /** A computed image, with the input of its explanation if one is requested. */
    record Computed(ImageResult.Computed result, Optional<CroppedImage> view) implements Outcome {}

    record Inspected(Inspection inspection) implements Outcome {}

    /** An image to decode. Completing the outcome cancels it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Upload(Job job, ModelSlot.Lease lease, byte[] content, CompletableFuture<Outcome> outcome) {
        void fail(Throwable problem) {
            outcome.completeExceptionally(problem);
            lease.close();
        }
    }

    /** A task of the computing thread, which closes the lease. */
    sealed interface Work {
        ModelSlot.Lease lease();

        CompletableFuture<?> result();
    }

    /** A prepared image, computed in a batch with others of the same model and rows. */
    record Prepared(
            ModelSlot.Lease lease, Set<Engine.Rows> rows, ServedModel.Input input, CompletableFuture<Outcome> result)
            implements Work {

        @SuppressWarnings("ReferenceEquality") // a reloaded model is another one
        boolean fits(Prepared other) {
            return lease.model() == other.lease.model() && rows.equals(other.rows);
        }
    }

    /** An explanation, computed alone, the one with the earliest deadline first. */
    record Explanation(ModelSlot.Lease lease, Deadline end, Runnable work, CompletableFuture<?> result)
            implements Work {}

    /**
     * Starts the threads.
     *
     * @param reader decodes an image, and may stop when the condition, that its request is over, is true
     */
    Batcher(
            int threads,
            int batchSize,
            BiFunction<byte[], BooleanSupplier, ReadResult> reader,
            Admission admission,
            Meters meters) {
        this.reader = reader;
        this.batchSize = batchSize;
        this.admission = admission;
        this.meters = meters;
        this.decoders = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().name("gramian-decode-", 0).daemon().factory());
        // One batch being computed, one complete, and one image per thread.
        this.decodedAhead = new Semaphore(2 * batchSize + threads);
        this.thread = Thread.ofPlatform().name("gramian-compute").daemon().start(this::run);
    }

    /** Starts the images of a request. Completing a future cancels its image. */
    List<CompletableFuture<Outcome>> submit(Job job, List<byte[]> images) {
        Queue<Upload> uploads = new ArrayDeque<>();
        // Each image has its own lease: a request may end while a thread still works on its image.
        images.forEach(
                content -> uploads.add(new Upload(job, job.lease().share(), content, new CompletableFuture<>())));
        List<CompletableFuture<Outcome>> outcomes =
                uploads.stream().map(Upload::outcome).toList();
        schedule(uploads);
        return outcomes;
    }

    /** Computes an explanation between two batches. */
    <T> CompletableFuture<T> explain(ModelSlot.Lease lease, Deadline end, Supplier<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        add(new Explanation(lease.share(), end, () -> result.complete(work.get()), result));
        return result;
    }

    private void schedule(Queue<Upload> request) {
        try {
            decoders.execute(() -> decodeNext(request));
        } catch (RejectedExecutionException _) {
            request.forEach(upload -> upload.fail(HttpError.stopping()));
        }
    }

    private void decodeNext(Queue<Upload> request) {
        Upload upload = request.remove();
        if (!request.isEmpty()) {
            schedule(request); // behind the other requests, so that they take turns
        }
        try (ModelSlot.Lease _ = upload.lease()) {
            decodedAhead.acquire();
            var _ = upload.outcome().whenComplete((_, _) -> decodedAhead.release());
            if (!upload.outcome().isDone()) {
                decode(upload);
            }
        } catch (Throwable failed) { // every request ends
            upload.outcome().completeExceptionally(failed);
        }
    }

    private void decode(Upload upload) throws HttpError {
        Job job = upload.job();
        ServedModel model = job.lease().model();
        long start = System.nanoTime();
        BooleanSupplier cancelled = upload.outcome()::isDone;
        switch (model.read(ImageSource.of("upload", () -> reader.apply(upload.content(), cancelled)))) {
            case Unreadable(Problem problem, var _) when problem == Problem.NO_MEMORY -> throw HttpError.noMemory();
            case Unreadable reason -> upload.outcome().complete(new Unread(reason));
            case ReadResult.Readable(Image image, var _) -> {
                admission.decoded((long) image.width() * image.height(), Duration.ofNanos(System.nanoTime() - start));
                ServedModel.Input input = model.prepare(image, job);
                add(new Prepared(upload.lease().share(), job.rows(), input, upload.outcome()));
            }
        }
    }

    synchronized void add(Work work) {
        if (closed) {
            work.result().completeExceptionally(HttpError.stopping());
            work.lease().close();
            return;
        }
        switch (work) {
            case Prepared image -> images.add(image);
            case Explanation explanation -> explanations.add(explanation);
        }
        notifyAll();
    }

    /** Returns the next explanation or batch; empty if closed and nothing is left. */
    private synchronized List<Work> take() throws InterruptedException {
        dropCancelled();
        while (images.isEmpty() && explanations.isEmpty()) {
            if (closed) {
                return List.of();
            }
            wait();
            dropCancelled();
        }
        List<Work> taken = new ArrayList<>(); // before anything is removed: it may run out of memory
        Optional<Explanation> first = explanations.stream()
                .min(Comparator.comparingLong(explanation -> explanation.end().nanos()));
        wasExplanation = first.isPresent()
                && (images.isEmpty() || !wasExplanation || first.get().end().isNear());
        if (wasExplanation) {
            taken.add(first.orElseThrow());
            explanations.remove(first.get());
        } else {
            takeBatch(taken);
        }
        return taken;
    }

    private void dropCancelled() {
        images.removeIf(Batcher::isCancelled);
        explanations.removeIf(Batcher::isCancelled);
    }

    private static boolean isCancelled(Work work) {
        boolean done = work.result().isDone();
        if (done) {
            work.lease().close();
        }
        return done;
    }

    private void takeBatch(List<Work> taken) {
        Prepared first = images.remove();
        taken.add(first);
        int room = batchSize - first.input().crops();
        Iterator<Prepared> others = images.iterator();
        while (room > 0 && others.hasNext()) {
            Prepared other = others.next();
            if (other.fits(first) && other.input().crops() <= room) {
                taken.add(other);
                others.remove();
                room -= other.input().crops();
            }
        }
    }

    private void run() {
        boolean more = true;
        while (more) {
            try {
                List<Work> batch = take();
                more = !batch.isEmpty();
                if (more) {
                    compute(batch);
                }
            } catch (InterruptedException _) {
                more = false;
            } catch (Throwable failed) { // without this thread no request is served
                try {
                    LOG.error("a batch failed; the server continues with the next one", failed);
                } catch (Throwable _) {
                    // E.g. no memory for a log line: the next batch is more important.
                }
            }
        }
    }

    private void compute(List<Work> batch) {
        try {
            if (batch.getFirst() instanceof Explanation explanation) {
                explanation.work().run();
            } else {
                computeBatch(batch.stream().map(Prepared.class::cast).toList());
            }
        } catch (Throwable failed) { // every request ends, and the next batch is computed
            batch.forEach(work -> work.result().completeExceptionally(failed));
        } finally {
            batch.forEach(work -> work.lease().close());
        }
    }

    private void computeBatch(List<Prepared> batch) {
        long start = System.nanoTime();
        Prepared first = batch.getFirst();
        List<ServedModel.Input> inputs = batch.stream().map(Prepared::input).toList();
        List<? extends Outcome> outcomes = first.lease().model().compute(inputs, first.rows());
        Duration time = Duration.ofNanos(System.nanoTime() - start);
        admission.computed(batch.size(), time);
        meters.computed(inputs.stream().mapToInt(ServedModel.Input::crops).sum(), time);
        for (int i = 0; i < batch.size(); i++) {
            batch.get(i).result().complete(outcomes.get(i));
        }
    }

    boolean isAlive() {
        return thread.isAlive();
    }

    /** Finishes accepted work and stops the threads; waits at most this long for either kind of them. */
    void close(Duration longest) {
        decoders.shutdown();
        try {
            if (!decoders.awaitTermination(longest.toNanos(), TimeUnit.NANOSECONDS)) {
                decoders.shutdownNow();
            }
            synchronized (this) {
                closed = true;
                notifyAll();
            }
            var _ = thread.join(longest);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            decoders.shutdownNow();
        }
    }
}
