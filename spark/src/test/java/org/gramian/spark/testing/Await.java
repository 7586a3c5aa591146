package org.gramian.spark.testing;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;

/** Waits for a condition, for at most two minutes. */
public final class Await {
    private static final Duration LONGEST = Duration.ofMinutes(2);
    private static final Duration BETWEEN_CHECKS = Duration.ofMillis(20);

    private Await() {}

    /** Waits until a condition holds; {@code what} names it in the exception after the longest time. */
    public static void until(String what, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + LONGEST.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() > end) {
                throw new TimeoutException("waited " + LONGEST.toSeconds() + " s for " + what);
            }
            Thread.sleep(BETWEEN_CHECKS);
        }
    }
}
