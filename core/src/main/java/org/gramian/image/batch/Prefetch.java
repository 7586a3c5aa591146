package org.gramian.image.batch;

/**
 * How much is loaded at once.
 *
 * @param batch crops of one batch; the last batch of a list is padded with zeros to this number
 * @param threads threads that decode at the same time
 * @param ahead batches in memory at the same time, those in the caller's hands included
 */
public record Prefetch(int batch, int threads, int ahead) {
    public Prefetch {
        if (batch < 1 || threads < 1 || ahead < 1) {
            throw new IllegalArgumentException(
                    "expected at least 1 crop per batch, 1 thread and 1 prefetched batch, found " + batch + ", "
                            + threads + " and " + ahead);
        }
    }

    /** A thread for each core; one batch in use, one ready, one being filled. */
    public static Prefetch of(int batch) {
        return of(batch, Runtime.getRuntime().availableProcessors());
    }

    /** The same with so many threads. */
    public static Prefetch of(int batch, int threads) {
        return new Prefetch(batch, threads, 3);
    }
}
