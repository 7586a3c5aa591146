package org.gramian.serve;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;

/** Something for the one thread that computes. */
sealed interface Work {
    /** Whether nobody waits for it any more. */
    boolean isDone();

    /** What keeps the model in memory until the work is done or dropped; closed by whoever takes it from the queue. */
    ModelSlot.Lease lease();

    /** Tells whoever waits that it went wrong. */
    void fail(Throwable problem);

    /**
     * Crops of an image, which may be computed together with those of others.
     *
     * @param lease of the model whose rows are wanted
     * @param wanted which rows, all computed in one pass
     * @param crops {@code [count, 3, size, size]}, one after the other
     * @param result completed with the rows
     */
    @SuppressWarnings("ArrayRecordComponent") // handed on once and never compared
    record Crops(
            ModelSlot.Lease lease,
            Set<Engine.Rows> wanted,
            float[] crops,
            CompletableFuture<ImageResult.Computed> result)
            implements Work {
        LoadedModel model() {
            return lease.model();
        }

        /** How many crops there are. */
        int count() {
            return model().classifier().crops();
        }

        /** Whether both can be computed in one batch. */
        @SuppressWarnings("ReferenceEquality") // an equal model in other memory is another one
        boolean fits(Crops other) {
            return model() == other.model() && wanted.equals(other.wanted);
        }

        @Override
        public boolean isDone() {
            return result.isDone();
        }

        @Override
        public void fail(Throwable problem) {
            result.completeExceptionally(problem);
        }
    }

    /**
     * Anything else that computes, alone: an explanation.
     *
     * @param lease of the model that it needs
     * @param work completes the future
     * @param done what is waited for
     * @param end until when; of the request that ends first, which came first, it is done first
     */
    record Alone(ModelSlot.Lease lease, Runnable work, CompletableFuture<?> done, Deadline end) implements Work {
        @Override
        public boolean isDone() {
            return done.isDone();
        }

        @Override
        public void fail(Throwable problem) {
            done.completeExceptionally(problem);
        }
    }
}
