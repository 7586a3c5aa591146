package org.gramian.serve;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The model that answers now, which another may take the place of at any time.
 *
 * <p>Who works with a model holds a lease of it. A model that was replaced is freed when its last lease is closed, so that
 * every request ends with the model that it began with.
 */
final class ModelSlot implements AutoCloseable {
    private Counted present;
    private boolean closed;

    ModelSlot(LoadedModel first) {
        this.present = new Counted(first);
    }

    /** A model and how many need it, the slot itself included. */
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

    /** The use of a model, until closed. */
    static final class Lease implements AutoCloseable {
        private final Counted counted;
        private final AtomicBoolean open = new AtomicBoolean(true);

        private Lease(Counted counted) {
            this.counted = counted;
        }

        /** Another one of the same model, for somebody who may need it longer. */
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

    /** The present model, for as long as the lease is open. */
    synchronized Lease lease() {
        return new Lease(present.retain());
    }

    /** From now on another model answers; frees it at once where nobody is answered any more. */
    synchronized void replace(LoadedModel next) {
        if (closed) {
            next.release();
            return;
        }
        Counted previous = present;
        present = new Counted(next);
        previous.release();
    }

    /** Frees the model as soon as nobody uses it. */
    @Override
    public synchronized void close() {
        closed = true;
        present.release();
    }
}
