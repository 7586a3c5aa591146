package org.gramian.benchmarks;

import java.util.SequencedMap;

/**
 * One side's work of a {@link Workload}.
 *
 * <p>Its tensors belong to the scope that is open when it is made, unless it closes them itself.
 */
interface Task extends AutoCloseable {
    /** Numbers that the other side must get too; called once, before the first {@link #run}. */
    SequencedMap<String, Double> check();

    /** One operation, the work that is timed. */
    void run();

    /** How often {@link #run} is called for one time, which is then divided by it: several times where it is short. */
    default int operations() {
        return 1;
    }

    @Override
    default void close() {}
}
