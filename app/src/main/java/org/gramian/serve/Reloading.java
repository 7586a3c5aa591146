package org.gramian.serve;

import java.io.IOException;
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
 * Puts a new model in the place of the present one when it is asked to, or when a file of it changed and then stayed as it was
 * for a second. It loads the first one too, so that it knows what that one was made of.
 *
 * <p>The new one is loaded whole before the old one goes. One that cannot be used is reported, and the old one stays.
 */
final class Reloading {
    private static final Logger LOG = LoggerFactory.getLogger(Reloading.class);

    private static final long LOOK_MILLIS = 250;
    private static final long STABLE_NANOS = 1_000_000_000L;

    private final ModelSource source;
    private final ModelSlot slot;
    private final Consumer<String> say;
    private final Meters meters;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("gramian-reload").daemon().factory());
    private List<Optional<FileVersion>> loaded;
    private List<Optional<FileVersion>> seen;
    private long since;

    /** @throws IOException if there is no first model that can be used */
    Reloading(ModelSource source, Meters meters, Consumer<String> say) throws IOException {
        this.source = source;
        this.meters = meters;
        this.say = say;
        this.loaded = stamps(); // before the model: what changes while it is loaded is noticed afterwards
        this.seen = loaded;
        this.slot = new ModelSlot(source.load(say));
        var _ = thread.scheduleWithFixedDelay(this::watch, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The model that answers now. */
    ModelSlot slot() {
        return slot;
    }

    /** One look; whatever is thrown here would end all further ones in silence. */
    private void watch() {
        try {
            look();
        } catch (Throwable failed) {
            LOG.error("cannot check the model files for changes; retrying", failed);
        }
    }

    private List<Optional<FileVersion>> stamps() {
        return source.files().stream().map(FileVersion::of).toList();
    }

    private void look() {
        List<Optional<FileVersion>> now = stamps();
        if (!now.equals(seen)) {
            seen = now;
            since = System.nanoTime();
        } else if (!now.equals(loaded) && System.nanoTime() - since >= STABLE_NANOS) {
            reload("its file has changed");
        }
    }

    /** Loads the model again, soon. */
    void ask() {
        thread.execute(() -> reload("SIGHUP"));
    }

    private void reload(String why) {
        loaded = stamps();
        seen = loaded;
        try {
            LoadedModel next = source.load(say);
            slot.replace(next);
            meters.reloaded(true);
            say.accept("reloaded the model " + next.name() + ": " + why);
        } catch (Throwable wrong) { // also what a runtime's native library throws
            meters.reloaded(false);
            say.accept("keeping the current model, the new one cannot be used: "
                    + (wrong.getMessage() == null ? wrong : wrong.getMessage()));
        }
    }

    /** Looks no more, and waits for a model that is being loaded, but not longer than told. */
    void close(Duration longest) {
        thread.shutdown();
        try {
            var _ = thread.awaitTermination(longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
