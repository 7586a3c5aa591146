package org.gramian.train.loop;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** Writes checkpoints when they are due; without a keeper there are none. */
final class CheckpointWriter {
    /** Checkpoints at the ends of epochs take at most one part in so many of the time. */
    private static final int SHARE = 10;

    private final Optional<CheckpointPolicy> keeper;
    private final Stopwatch sinceLast;
    private Duration lastTook = Duration.ZERO;

    CheckpointWriter(Optional<CheckpointPolicy> keeper, Stopwatch sinceLast) {
        this.keeper = keeper;
        this.sinceLast = sinceLast;
    }

    void saveIfDue(TrainingProgress position, Checkpoint.State state) throws IOException {
        if (keeper.isPresent() && sinceLast.hasReached(keeper.get().every())) {
            save(position, state);
        }
    }

    /** Saves unless the last checkpoint is so young, and took so long to write, that writing would slow down short epochs. */
    void saveAfterEpoch(TrainingProgress position, Checkpoint.State state) throws IOException {
        if (sinceLast.hasReached(lastTook.multipliedBy(SHARE))) {
            save(position, state);
        } else {
            saveIfDue(position, state);
        }
    }

    void save(TrainingProgress position, Checkpoint.State state) throws IOException {
        if (keeper.isPresent()) {
            Duration before = sinceLast.elapsed();
            Checkpoint.write(keeper.get(), position, state);
            keeper.get().copy().written(keeper.get().file());
            lastTook = sinceLast.elapsed().minus(before);
            sinceLast.restart();
        }
    }
}
