package org.gramian.serve;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Bounds the work of all requests: bytes in memory, queued images, and the time to decode and to compute them. What exceeds a
 * bound gets HTTP 429 with the estimated time to retry after.
 *
 * <p>The time to decode is estimated by pixels, which the header of an image tells: 58 bytes can code 49 megapixels.
 *
 * <p>Bytes are counted as they are received, not as announced by {@code Content-Length}: a client that announces much and sends
 * nothing blocks no others. Closing a ticket frees what its request holds.
 */
final class Admission {
    /** Requests may take this part of Java's memory; decoding and crops need the rest. */
    private static final long MEMORY_DIVISOR = 8;

    private static final long MAX_RETRY_SECONDS = 60;

    /** Part of the time limit that all queued work may take. */
    private static final double QUEUE_SHARE = 0.8;

    /** Part of the time limit that queued explanations may take: later predictions are computed between them. */
    private static final double EXPLANATION_SHARE = 0.5;

    /** Decay of the moving averages of compute times, per image. */
    private static final double DECAY = 0.8;

    /** Assumed time to decode a pixel until enough were decoded; enough for every format. */
    private static final double ASSUMED_PIXEL_SECONDS = 60e-9;

    /** Lowest estimate, since cheap images may be followed by expensive ones. */
    private static final double LEAST_PIXEL_SECONDS = 20e-9;

    /** Smaller images do not count for the estimate: they take most of their time regardless of pixels. */
    private static final long MEASURED_PIXELS = 1_000_000;

    /** First measurements, which do not count: libraries are loaded and code is compiled. */
    private static final int WARM_UP = 8;

    private final int decoders;
    private final long maxBytes;
    private final int maxImages;
    private final double limitSeconds;
    /** Assumed until the first explanation was computed: a full request just meets the time limit. */
    private final double assumedExplanationSeconds;

    private double imageSeconds;
    private double explanationSeconds;
    private double pixelSeconds = ASSUMED_PIXEL_SECONDS;
    private long bytes;
    private long pixels;
    private int images;
    private int explanations;
    private int requests;
    private int batchesComputed;
    private int imagesDecoded;
    private boolean closed;

    Admission(ServeOptions.Limits limits) {
        this(limits, Runtime.getRuntime().availableProcessors());
    }

    Admission(ServeOptions.Limits limits, int decoders) {
        this.decoders = decoders;
        this.maxBytes =
                Math.max(2L * limits.upload().bytes(), Runtime.getRuntime().maxMemory() / MEMORY_DIVISOR);
        this.maxImages = limits.load().images();
        this.limitSeconds = seconds(limits.load().answer());
        this.assumedExplanationSeconds = limitSeconds / limits.upload().images();
    }

    final class Ticket implements AutoCloseable {
        private long ownBytes;
        private long ownPixels;
        private int ownImages;
        private int ownExplanations;
        private boolean returned;

        private Ticket() {}

        /** Reserves memory; may be called by any thread. A request larger than the whole memory is served when it is alone. */
        void bytes(long more) throws HttpError {
            synchronized (Admission.this) {
                if (returned || (bytes > ownBytes && bytes + more > maxBytes)) {
                    throw busy(queuedSeconds());
                }
                ownBytes += more;
                bytes += more;
            }
        }

        /** Reserves places in the queue. A request larger than the whole queue is served when it is alone. */
        void images(int count, int toExplain, long pixelCount) throws HttpError {
            synchronized (Admission.this) {
                requirePossible(count, toExplain, pixelCount);
                int explained = explanations + toExplain;
                double excess = knownSeconds(images + count, explained)
                        + decodingSeconds(pixels + pixelCount)
                        - QUEUE_SHARE * limitSeconds;
                double explanationLimit = EXPLANATION_SHARE * limitSeconds;
                boolean explainedLate = explanations > 0
                        && toExplain > 0
                        && explained * (explanationSeconds == 0 ? assumedExplanationSeconds : explanationSeconds)
                                > explanationLimit;
                if (images > 0 && (excess > 0 || explainedLate)) {
                    throw busy(Math.max(excess, knownSeconds(0, explained) - explanationLimit));
                }
                if (images > 0 && images + count > maxImages) {
                    throw busy(queuedSeconds());
                }
                ownPixels += pixelCount;
                pixels += pixelCount;
                ownImages += count;
                images += count;
                ownExplanations += toExplain;
                explanations += toExplain;
            }
        }

        void explained(Duration time) {
            synchronized (Admission.this) {
                explanationSeconds = average(explanationSeconds, 1, time);
                if (!returned) {
                    ownExplanations--;
                    explanations--;
                }
            }
        }

        long bytes() {
            synchronized (Admission.this) {
                return ownBytes;
            }
        }

        @Override
        public void close() {
            synchronized (Admission.this) {
                returned = true;
                bytes -= ownBytes;
                pixels -= ownPixels;
                images -= ownImages;
                explanations -= ownExplanations;
                requests--;
                Admission.this.notifyAll();
            }
        }
    }

    /** Accepts a request unless the queue or the memory is full. */
    synchronized Ticket enter() throws HttpError {
        if (closed) {
            throw HttpError.stopping();
        }
        if (images >= maxImages || bytes >= maxBytes) {
            throw busy(queuedSeconds());
        }
        requests++;
        return new Ticket();
    }

    /** Refuses a request that exceeds the time limit on its own; a single image is always tried. */
    private void requirePossible(int count, int toExplain, long pixelCount) throws HttpError {
        double needed = knownSeconds(count, toExplain) + decodingSeconds(pixelCount);
        if (count > 1 && needed > limitSeconds) {
            throw new HttpError(
                    413,
                    "too-large",
                    "expected at most " + Math.max(1, (int) (count * limitSeconds / needed))
                            + " images per request of this type and size, found " + count + " with "
                            + pixelCount / 1_000_000 + " megapixels: more do not fit into the time limit of "
                            + Math.round(limitSeconds) + " s");
        }
    }

    /** Returns the time of this work by measured averages; 0 before the first measurement. */
    private double knownSeconds(int imageCount, int explanationCount) {
        return imageCount * imageSeconds + explanationCount * explanationSeconds;
    }

    private double decodingSeconds(long pixelCount) {
        return pixelCount * pixelSeconds / decoders;
    }

    private double queuedSeconds() {
        return knownSeconds(images, explanations) + decodingSeconds(pixels);
    }

    private HttpError busy(double retrySeconds) {
        return HttpError.busy(
                "the server is overloaded (queued: " + images + " of " + maxImages + " images, "
                        + explanations + " explanations, " + pixels / 1_000_000 + " megapixels, " + (bytes >> 20)
                        + " of " + (maxBytes >> 20)
                        + " MiB, about " + Math.round(queuedSeconds()) + " s of work with a time limit of "
                        + Math.round(limitSeconds) + " s); retry after the time in Retry-After",
                Math.clamp((long) Math.ceil(retrySeconds), 1, MAX_RETRY_SECONDS));
    }

    synchronized void computed(int count, Duration time) {
        batchesComputed++;
        if (batchesComputed > WARM_UP) {
            imageSeconds = average(imageSeconds, count, time);
        }
    }

    synchronized void decoded(long pixelCount, Duration time) {
        imagesDecoded++;
        if (pixelCount >= MEASURED_PIXELS && imagesDecoded > WARM_UP) {
            double measured = DECAY * pixelSeconds + (1 - DECAY) * seconds(time) / pixelCount;
            pixelSeconds = Math.max(LEAST_PIXEL_SECONDS, measured);
        }
    }

    private static double average(double previous, int count, Duration time) {
        double kept = previous == 0 ? 0 : Math.pow(DECAY, count);
        return kept * previous + (1 - kept) * seconds(time) / count;
    }

    private static double seconds(Duration time) {
        return time.toNanos() / 1e9;
    }

    synchronized int queued() {
        return images;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Accepts no more requests and waits for the accepted ones. Returns whether all finished in time. */
    synchronized boolean drain(Duration longest) {
        closed = true;
        long end = System.nanoTime() + longest.toNanos();
        try {
            while (requests > 0 && end - System.nanoTime() > 0) {
                TimeUnit.NANOSECONDS.timedWait(this, end - System.nanoTime());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return requests == 0;
    }
}
