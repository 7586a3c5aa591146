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
 * @param copy told of each checkpoint once it is written, to keep it elsewhere too
 */
public record CheckpointPolicy(Path file, String identity, Duration every, Copy copy) {
    /** A minute's work may be lost. */
    public static final Duration DEFAULT_INTERVAL = Duration.ofMinutes(1);

    /** Keeps a checkpoint elsewhere, as in a file system of many machines. */
    @FunctionalInterface
    public interface Copy {
        /** The file was written, or written anew. */
        void written(Path file) throws IOException;
    }

    /** One whose checkpoint lies in its file alone. */
    public CheckpointPolicy(Path file, String identity, Duration every) {
        this(file, identity, every, _ -> {});
    }

    /** The checkpoint, if there is one. */
    Optional<Checkpoint> find() throws IOException {
        return Files.exists(file) ? Optional.of(Checkpoint.read(this)) : Optional.empty();
    }

    /** Removes the checkpoint, once the model is safe elsewhere. */
    public void remove() throws IOException {
        Files.deleteIfExists(file);
    }
}
