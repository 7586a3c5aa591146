package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The current model, reloaded when a file of it changed and then stayed unchanged for a second.
 *
 * <p>Every use of the model holds a lease. A replaced model is freed when its last lease is closed: a request ends with the
 * model that it started with. The new model is loaded first; if it cannot be loaded in time, that is reported and the old one
 * stays until the files change again.
 */
final class ModelSlot implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ModelSlot.class);

    private static final long POLL_MILLIS = 250;
    private static final long STABLE_NANOS = 1_000_000_000L;
    private static final Duration MAX_LOAD_TIME = Duration.ofMinutes(5);

    private final LoadedModel.Source source;
    private final Meters meters;
    private final Consumer<String> events;
    private final Duration maxLoadTime;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("gramian-reload").daemon().factory());
    private List<Optional<FileVersion>> loaded;
    private List<Optional<FileVersion>> seen;
    private long since;
    private Counted present;
    private boolean closed;

    /** Identifies a version of a file without reading it. */
    private record FileVersion(long bytes, long millis, String key) {
        static Optional<FileVersion> of(Path file) {
            try {
                BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
                return Optional.of(new FileVersion(
                        found.size(), found.lastModifiedTime().toMillis(), String.valueOf(found.fileKey())));
            } catch (IOException _) {
                return Optional.empty();
            }
        }
    }

    /** A model with its reference count, the slot included. */
    private static final class Counted {
        private final ServedModel model;
        private int users = 1;

        Counted(ServedModel model) {
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

        ServedModel model() {
            return counted.model;
        }

        @Override
        public void close() {
            if (open.getAndSet(false)) {
                counted.release();
            }
        }
    }

    ModelSlot(LoadedModel.Source source, Meters meters, Consumer<String> events) throws IOException {
        this(source, meters, events, MAX_LOAD_TIME);
    }

    ModelSlot(LoadedModel.Source source, Meters meters, Consumer<String> events, Duration maxLoadTime)
            throws IOException {
        this.maxLoadTime = maxLoadTime;
        this.source = source;
        this.meters = meters;
        this.events = events;
        this.loaded = versions(); // first: a change while the model is loaded causes a reload
        this.seen = loaded;
        this.present = new Counted(source.loader().load(events));
        var _ = thread.scheduleWithFixedDelay(this::poll, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
    }

    private List<Optional<FileVersion>> versions() {
        return source.files().stream().map(FileVersion::of).toList();
    }

    /** Checks the files. It must not throw: the executor would stop checking. */
    private void poll() {
        try {
            List<Optional<FileVersion>> now = versions();
            if (!now.equals(seen)) {
                seen = now;
                since = System.nanoTime();
            } else if (!now.equals(loaded) && System.nanoTime() - since >= STABLE_NANOS) {
                reload();
            }
        } catch (Throwable failed) {
            LOG.error("cannot check the model files for changes; retrying", failed);
        }
    }

    private void reload() {
        loaded = versions();
        seen = loaded;
        try {
            ServedModel next = load();
            replace(next);
            meters.reloaded(true);
            events.accept("reloaded the model " + next.name() + ": its file has changed");
        } catch (Throwable wrong) { // also errors of native libraries
            meters.reloaded(false);
            events.accept("keeping the current model, the new one cannot be used: "
                    + (wrong.getMessage() == null ? wrong : wrong.getMessage()));
        }
    }

    /** Loads on a thread of its own, which is abandoned if it does not end in time. */
    private ServedModel load() throws Throwable {
        CompletableFuture<ServedModel> load = new CompletableFuture<>();
        var _ = Thread.ofPlatform().name("gramian-load").daemon().start(() -> {
            try {
                ServedModel next = source.loader().load(events);
                if (!load.complete(next)) {
                    next.release();
                }
            } catch (Throwable failed) {
                load.completeExceptionally(failed);
            }
        });
        try {
            return load.orTimeout(maxLoadTime.toNanos(), TimeUnit.NANOSECONDS).join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof TimeoutException) {
                throw new IOException("it did not load within " + maxLoadTime.toSeconds()
                        + " s; this load is abandoned, and the next change of the file is loaded");
            }
            throw failed.getCause() == null ? failed : failed.getCause();
        }
    }

    private synchronized void replace(ServedModel next) {
        if (closed) {
            next.release();
            return;
        }
        Counted previous = present;
        present = new Counted(next);
        previous.release();
    }

    synchronized Lease lease() {
        return new Lease(present.retain());
    }

    /** Returns how far recent images are from the training images; empty if the model does not tell. */
    Optional<Drift.State> drift() {
        try (Lease lease = lease()) {
            return lease.model().recent().map(Drift::state);
        }
    }

    /** Stops reloading; waits shortly for a model that is being loaded. Leases keep their model. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            var _ = thread.awaitTermination(Server.STOP_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            closed = true;
            present.release();
        }
    }
}
