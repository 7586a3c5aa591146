package org.gramian.image.batch;

/**
 * Batch size and prefetching.
 *
 * @param batch crops of a batch; the last batch is padded with zeros
 * @param threads number of decoding threads
 * @param ahead batches in memory, including those the caller has not closed
 */
public record Prefetch(int batch, int threads, int ahead) {
    public Prefetch {
        if (batch < 1 || threads < 1 || ahead < 1) {
            throw new IllegalArgumentException(
                    "expected at least 1 crop per batch, 1 thread and 1 prefetched batch, found " + batch + ", "
                            + threads + " and " + ahead);
        }
    }

    /** Uses one thread per core and three batches: one in use, one ready, one being filled. */
    public static Prefetch of(int batch) {
        return of(batch, Runtime.getRuntime().availableProcessors());
    }

    /** Uses three batches: one in use, one ready, one being filled. */
    public static Prefetch of(int batch, int threads) {
        return new Prefetch(batch, threads, 3);
    }
}
