package org.gramian.train.loop;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/** Whether training should stop before its end: because somebody asked, or because its time is over. */
public final class Cancellation {
    /** Why training stops early. */
    public enum Reason {
        /** Somebody asked, as by Ctrl-C. */
        ASKED,
        /** The time that was given is used up. */
        OUT_OF_TIME
    }

    private final AtomicBoolean asked = new AtomicBoolean();
    private final Stopwatch watch;
    private final Optional<Duration> budget;
    private volatile Duration reserve = Duration.ZERO;

    private Cancellation(Stopwatch watch, Optional<Duration> budget) {
        this.watch = watch;
        this.budget = budget;
    }

    /** Only when asked. */
    public static Cancellation whenAsked() {
        return new Cancellation(new Stopwatch(), Optional.empty());
    }

    /** When asked, or this long from now. */
    public static Cancellation after(Duration budget) {
        return after(budget, System::nanoTime);
    }

    /** When asked, or when so much has gone by on a clock of nanoseconds; only its differences count. */
    public static Cancellation after(Duration budget, LongSupplier nanoseconds) {
        return new Cancellation(new Stopwatch(nanoseconds), Optional.of(budget));
    }

    /** Asks for a break after the present step; from any thread. */
    public void ask() {
        asked.set(true);
    }

    /**
     * Keeps time of the budget for what follows training: test and report.
     *
     * @return the time that is kept: at most half of the budget, so that training has some; none without a budget
     */
    public Duration reserve(Duration time) {
        Duration most = budget.map(all -> all.dividedBy(2)).orElse(Duration.ZERO);
        reserve = time.compareTo(most) < 0 ? time : most;
        return reserve;
    }

    /** Whether a break is due. */
    public Optional<Reason> due() {
        if (asked.get()) {
            return Optional.of(Reason.ASKED);
        }
        return left().filter(left -> !left.isPositive()).map(_ -> Reason.OUT_OF_TIME);
    }

    /** The time left for training, negative if it is over; empty without a budget. */
    public Optional<Duration> left() {
        return budget.map(all -> all.minus(reserve).minus(watch.elapsed()));
    }

    /** Whether the whole budget is used up, with what was reserved. */
    public boolean isOver() {
        return budget.filter(watch::hasReached).isPresent();
    }
}
