package org.gramian.train.loop;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Elapsed time by a monotonic clock. */
final class Stopwatch {
    private final LongSupplier nanoseconds;
    private long start;

    /** Starts with the clock of the process. */
    Stopwatch() {
        this(System::nanoTime);
    }

    /** Starts with a clock of nanoseconds. */
    Stopwatch(LongSupplier nanoseconds) {
        this.nanoseconds = nanoseconds;
        this.start = nanoseconds.getAsLong();
    }

    /** Whether this much time has elapsed. */
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
