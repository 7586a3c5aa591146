package org.gramian.train.loop;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Time that has gone by, by a clock that nobody can set: that of the wall may be put forward or back meanwhile. */
final class Stopwatch {
    private final LongSupplier nanoseconds;
    private long start;

    /** Starts at once, by the clock of the process. */
    Stopwatch() {
        this(System::nanoTime);
    }

    /** Starts at once. */
    Stopwatch(LongSupplier nanoseconds) {
        this.nanoseconds = nanoseconds;
        this.start = nanoseconds.getAsLong();
    }

    /** Whether as much has gone by since the start. */
    boolean hasReached(Duration time) {
        return elapsed().compareTo(time) >= 0;
    }

    Duration elapsed() {
        return Duration.ofNanos(nanoseconds.getAsLong() - start);
    }

    void restart() {
        start = nanoseconds.getAsLong();
    }
}
