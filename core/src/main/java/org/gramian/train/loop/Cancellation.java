package org.gramian.train.loop;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/** Cancellation of training, by a request or at the end of a time budget. Requests may come from any thread. */
public final class Cancellation {
    public enum Reason {
        CANCELLED,
        OUT_OF_TIME
    }

    private final AtomicBoolean cancelled;
    private final Stopwatch watch;
    private final Optional<Duration> budget;
    private volatile Duration reserve = Duration.ZERO;

    private Cancellation(AtomicBoolean cancelled, Stopwatch watch, Optional<Duration> budget) {
        this.cancelled = cancelled;
        this.watch = watch;
        this.budget = budget;
    }

    public static Cancellation onRequest() {
        return new Cancellation(new AtomicBoolean(), new Stopwatch(System::nanoTime), Optional.empty());
    }

    /** Returns a view that only requests cancel: for work that must be done even if the budget is too short for it. */
    public Cancellation withoutBudget() {
        return new Cancellation(cancelled, watch, Optional.empty());
    }

    public static Cancellation after(Duration budget) {
        return after(budget, System::nanoTime);
    }

    /** Returns a cancellation by request or at the end of a time budget on a clock of nanoseconds with any origin. */
    public static Cancellation after(Duration budget, LongSupplier nanoseconds) {
        return new Cancellation(new AtomicBoolean(), new Stopwatch(nanoseconds), Optional.of(budget));
    }

    public void cancel() {
        cancelled.set(true);
    }

    /**
     * Reserves time of the budget for evaluation and report after training.
     *
     * @return the reserved time: at most half of the time that is left, zero without a budget
     */
    public Duration reserve(Duration time) {
        Duration left = budget.map(all -> all.minus(watch.elapsed())).orElse(Duration.ZERO);
        Duration most = left.isPositive() ? left.dividedBy(2) : Duration.ZERO;
        reserve = time.compareTo(most) < 0 ? time : most;
        return reserve;
    }

    public Duration reserved() {
        return reserve;
    }

    /** Returns a view of the first of several equal parts of the time that is left, with a reserve of its own. */
    public Cancellation part(int parts) {
        return new Cancellation(
                cancelled, watch, remaining().map(left -> watch.elapsed().plus(left.dividedBy(parts))));
    }

    public Optional<Reason> reason() {
        if (cancelled.get()) {
            return Optional.of(Reason.CANCELLED);
        }
        return remaining().filter(time -> !time.isPositive()).map(_ -> Reason.OUT_OF_TIME);
    }

    /** Returns the time left for training, negative after its end; empty without a budget. */
    public Optional<Duration> remaining() {
        return budget.map(all -> all.minus(reserve).minus(watch.elapsed()));
    }

    public Optional<Duration> budget() {
        return budget;
    }

    public Duration elapsed() {
        return watch.elapsed();
    }

    /** Whether a share of the budget is used, the reserved time included; never without a budget. */
    public boolean isUsed(double share) {
        return budget.filter(all -> watch.hasReached(Duration.ofNanos((long) (share * all.toNanos()))))
                .isPresent();
    }

    static final class Stopwatch {
        private final LongSupplier nanoseconds;
        private long start;

        Stopwatch(LongSupplier nanoseconds) {
            this.nanoseconds = nanoseconds;
            this.start = nanoseconds.getAsLong();
        }

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
}
