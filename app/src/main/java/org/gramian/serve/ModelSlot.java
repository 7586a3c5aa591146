package org.gramian.serve;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The current model, replaceable at any time.
 *
 * <p>Every use of the model holds a lease. A replaced model is freed when its last lease is closed: a request ends with the
 * model that it started with.
 */
final class ModelSlot implements AutoCloseable {
    private Counted present;
    private boolean closed;

    ModelSlot(LoadedModel first) {
        this.present = new Counted(first);
    }

    /** A model with its reference count, the slot included. */
    private static final class Counted {
        private final LoadedModel model;
        private int users = 1;

        Counted(LoadedModel model) {
            this.model = model;
        }

        synchronized Counted retain() {
            users++;
            return this;
        }

        synchronized void release() {
            users--;
            if (users == 0) {
                model.release();
            }
        }
    }

    /** The use of a model until the lease is closed. */
    static final class Lease implements AutoCloseable {
        private final Counted counted;
        private final AtomicBoolean open = new AtomicBoolean(true);

        private Lease(Counted counted) {
            this.counted = counted;
        }

        /** Returns another lease of the same model, with a lifetime of its own. */
        Lease share() {
            return new Lease(counted.retain());
        }

        LoadedModel model() {
            return counted.model;
        }

        @Override
        public void close() {
            if (open.getAndSet(false)) {
                counted.release();
            }
        }
    }

    synchronized Lease lease() {
        return new Lease(present.retain());
    }

    /** Replaces the model. The previous one is freed with its last lease. */
    synchronized void replace(LoadedModel next) {
        if (closed) {
            next.release();
            return;
        }
        Counted previous = present;
        present = new Counted(next);
        previous.release();
    }

    @Override
    public synchronized void close() {
        closed = true;
        present.release();
    }
}
