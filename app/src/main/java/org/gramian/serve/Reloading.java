package org.gramian.serve;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Puts a new model in the place of the present one when it is asked to, or when a file of it changed and then stayed as it was
 * for a second.
 *
 * <p>The new one is loaded whole before the old one goes. One that cannot be used is reported, and the old one stays.
 */
final class Reloading implements AutoCloseable {
    private static final long LOOK_MILLIS = 250;
    private static final long STABLE_NANOS = 1_000_000_000L;

    private final ModelSource source;
    private final ModelSlot slot;
    private final Consumer<String> say;
    private final Meters meters;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("gramian-reload").daemon().factory());
    private List<Optional<Stamp>> loaded;
    private List<Optional<Stamp>> seen;
    private long since;

    /** What tells one version of a file from another without reading it. */
    private record Stamp(long bytes, long millis, String key) {
        static Optional<Stamp> of(Path file) {
            try {
                BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
                return Optional.of(
                        new Stamp(found.size(), found.lastModifiedTime().toMillis(), String.valueOf(found.fileKey())));
            } catch (IOException _) {
                return Optional.empty();
            }
        }
    }

    Reloading(ModelSource source, ModelSlot slot, Meters meters, Consumer<String> say) {
        this.source = source;
        this.slot = slot;
        this.meters = meters;
        this.say = say;
        this.loaded = stamps();
        this.seen = loaded;
        var _ = thread.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    private List<Optional<Stamp>> stamps() {
        return source.files().stream().map(Stamp::of).toList();
    }

    private void look() {
        List<Optional<Stamp>> now = stamps();
        if (!now.equals(seen)) {
            seen = now;
            since = System.nanoTime();
        } else if (!now.equals(loaded) && System.nanoTime() - since >= STABLE_NANOS) {
            reload("its file changed");
        }
    }

    /** Loads the model again, soon. */
    void ask() {
        thread.execute(() -> reload("asked to"));
    }

    private void reload(String why) {
        loaded = stamps();
        seen = loaded;
        try {
            LoadedModel next = source.load(say);
            slot.replace(next);
            meters.reloaded(true);
            say.accept("loaded the model " + next.name() + " again: " + why);
        } catch (IOException | RuntimeException | OutOfMemoryError wrong) {
            meters.reloaded(false);
            say.accept("the model stays as it was, for the new one cannot be used: " + wrong.getMessage());
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
