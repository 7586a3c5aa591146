package org.gramian.run.plan;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.gramian.train.event.TrainEvent;
import org.gramian.train.event.TrainEvent.Task;

/** Measures the seconds that each task of a run takes for an image, from its events. */
public final class Pace implements Consumer<TrainEvent> {
    private final LongSupplier nanoseconds;
    private final Map<String, Long> starts = new HashMap<>();
    private final Map<String, Double> seconds = new HashMap<>();
    private long last;

    /** @param nanoseconds a monotonic clock */
    public Pace(LongSupplier nanoseconds) {
        this.nanoseconds = nanoseconds;
        this.last = nanoseconds.getAsLong();
    }

    @Override
    public synchronized void accept(TrainEvent event) {
        long now = nanoseconds.getAsLong();
        if (event instanceof Task(String name, long done, long _) && done > 0) {
            // a task begins when the one before it ends: the first batch counts too
            long start = starts.computeIfAbsent(name, _ -> last);
            seconds.put(name, (now - start) / 1e9 / done);
        }
        last = now;
    }

    /** Returns the seconds per image of a task; 0 if it did not run. */
    public synchronized double seconds(String task) {
        return seconds.getOrDefault(task, 0.0);
    }
}
