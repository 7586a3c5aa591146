package org.gramian.image;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * When to stop decoding an image: at the end of the time limit, or once the result is no longer wanted.
 *
 * @param end on the clock of {@link System#nanoTime}
 * @param cancelled whether the result is no longer wanted; called often, by the decoding thread
 */
record TimeLimit(long end, BooleanSupplier cancelled) {
    /** The last resort against a malicious file; no honest image within the limits takes this long. */
    static final Duration LONGEST = Duration.ofMinutes(2);

    /** Starts the longest time limit. */
    static TimeLimit start(BooleanSupplier cancelled) {
        return new TimeLimit(System.nanoTime() + LONGEST.toNanos(), cancelled);
    }

    boolean isOver() {
        return cancelled.getAsBoolean() || System.nanoTime() - end > 0;
    }

    /** @throws UnreadableException if the time is over */
    void check(long fileBytes) throws UnreadableException {
        if (isOver()) {
            throw exceeded(fileBytes);
        }
    }

    /** Returns the failure of a file that takes too long. */
    static UnreadableException exceeded(long fileBytes) {
        return UnreadableException.tooLarge("expected a file that decodes within " + LONGEST.toSeconds()
                + " s and the time limit of its request, found one of " + fileBytes
                + " bytes that takes longer; it is damaged or malicious, or too large for this machine");
    }
}
