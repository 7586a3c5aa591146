package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the model, and reloads it on request or when a file of it changed and then stayed unchanged for a second.
 *
 * <p>The new model is loaded before the old one is freed. One that cannot be loaded is reported, and the old one stays.
 */
final class ModelReloader {
    private static final Logger LOG = LoggerFactory.getLogger(ModelReloader.class);

    private static final long POLL_MILLIS = 250;
    private static final long STABLE_NANOS = 1_000_000_000L;

    private final ModelSource source;
    private final ModelSlot slot;
    private final Consumer<String> events;
    private final Meters meters;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("gramian-reload").daemon().factory());
    private List<Optional<FileVersion>> loaded;
    private List<Optional<FileVersion>> seen;
    private long since;

    /** Identifies a version of a file without reading it. */
    record FileVersion(long bytes, long millis, String key) {
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

    /** @throws IOException if there is no usable model */
    ModelReloader(ModelSource source, Meters meters, Consumer<String> events) throws IOException {
        this.source = source;
        this.meters = meters;
        this.events = events;
        this.loaded = versions(); // first: a change while the model is loaded causes a reload
        this.seen = loaded;
        this.slot = new ModelSlot(source.load(events));
        var _ = thread.scheduleWithFixedDelay(this::poll, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
    }

    ModelSlot slot() {
        return slot;
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
            LoadedModel next = source.load(events);
            slot.replace(next);
            meters.reloaded(true);
            events.accept("reloaded the model " + next.name() + ": its file has changed");
        } catch (Throwable wrong) { // also errors of native libraries
            meters.reloaded(false);
            events.accept("keeping the current model, the new one cannot be used: "
                    + (wrong.getMessage() == null ? wrong : wrong.getMessage()));
        }
    }

    /** Stops; waits at most this long for a model that is being loaded. */
    void close(Duration longest) {
        thread.shutdown();
        try {
            var _ = thread.awaitTermination(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
