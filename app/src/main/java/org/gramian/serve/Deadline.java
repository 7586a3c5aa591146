package org.gramian.serve;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.gramian.tensor.library.LibtorchException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** End of the time limit of a request. */
record Deadline(long nanos, Duration time) {
    private static final Logger LOG = LoggerFactory.getLogger(Deadline.class);

    static Deadline in(Duration time) {
        return new Deadline(System.nanoTime() + time.toNanos(), time);
    }

    private long left() {
        return nanos - System.nanoTime();
    }

    boolean isOver() {
        return left() <= 0;
    }

    /** Returns whether at most half of the time is left. */
    boolean isNear() {
        return left() <= time.toNanos() / 2;
    }

    /** Waits for a result; cancels it at the deadline. */
    <T> T await(CompletableFuture<T> future) throws HttpError {
        try {
            return future.get(Math.max(0, left()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            future.cancel(false);
            throw new HttpError(
                    503,
                    "timeout",
                    "no result within " + time.toSeconds()
                            + " s; retry when the server is less busy, or send fewer images per request");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw HttpError.stopping();
        } catch (ExecutionException failed) {
            switch (failed.getCause()) {
                case HttpError error -> throw error;
                case OutOfMemoryError _ -> throw HttpError.noMemory();
                case LibtorchException cause -> {
                    LOG.error("libtorch failed to run the model", cause);
                    throw HttpError.notComputed();
                }
                case null, default ->
                    throw new IllegalStateException("inference failed for an image", failed.getCause());
            }
        }
    }
}
