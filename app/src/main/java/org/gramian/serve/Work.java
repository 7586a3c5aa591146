package org.gramian.serve;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.gramian.model.Engine;
import org.gramian.model.ImageResult;

/** A task of the computing thread. */
sealed interface Work {
    /** Returns whether the result is known or was cancelled. */
    boolean isDone();

    /** Returns the lease that keeps the model loaded; closed by the thread that takes the task from the queue. */
    ModelSlot.Lease lease();

    /** Completes the result with a failure. */
    void fail(Throwable problem);

    /**
     * A rendered image, computed in a batch with others.
     *
     * @param lease of the model
     * @param wanted rows to compute
     * @param crops {@code [count, 3, size, size]}
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

        /** Returns the number of crops. */
        int count() {
            return model().classifier().crops();
        }

        /** Returns whether both can be computed in one batch. */
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
     * A task that is computed alone: an explanation.
     *
     * @param lease of the model
     * @param work completes the future
     * @param done its result
     * @param end deadline of its request; the earliest is computed first
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
