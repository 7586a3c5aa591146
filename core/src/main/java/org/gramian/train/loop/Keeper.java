package org.gramian.train.loop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Where and how often the state of training is kept, so that it can go on after a break.
 *
 * @param file the checkpoint
 * @param identity of everything that decides how training goes: a checkpoint of another identity is refused
 * @param every how long may be lost when the machine fails; besides, each epoch ends with a checkpoint
 */
public record Keeper(Path file, String identity, Duration every) {
    /** A minute's work may be lost. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofMinutes(1);

    /** The checkpoint, if there is one. */
    Optional<Checkpoint> find() throws IOException {
        return Files.exists(file) ? Optional.of(Checkpoint.read(this)) : Optional.empty();
    }

    /** Removes the checkpoint, once the model is safe elsewhere. */
    public void remove() throws IOException {
        Files.deleteIfExists(file);
    }
}
