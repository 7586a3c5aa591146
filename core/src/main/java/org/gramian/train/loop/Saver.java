package org.gramian.train.loop;

import java.io.IOException;
import java.util.Optional;

/** Writes checkpoints when they are due; without a keeper there are none. */
final class Saver {
    private final Optional<Keeper> keeper;
    private final Stopwatch sinceLast;

    Saver(Optional<Keeper> keeper, Stopwatch sinceLast) {
        this.keeper = keeper;
        this.sinceLast = sinceLast;
    }

    void saveIfDue(Position position, Checkpoint.State state) throws IOException {
        if (keeper.isPresent() && sinceLast.hasReached(keeper.get().every())) {
            save(position, state);
        }
    }

    void save(Position position, Checkpoint.State state) throws IOException {
        if (keeper.isPresent()) {
            Checkpoint.write(keeper.get(), position, state);
            keeper.get().copy().written(keeper.get().file());
            sinceLast.restart();
        }
    }
}
