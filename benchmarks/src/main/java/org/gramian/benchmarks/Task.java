package org.gramian.benchmarks;

import java.util.List;
import java.util.SequencedMap;

/**
 * One side's work of a {@link Workload}.
 *
 * <p>Its tensors belong to the scope that is open when it is made, unless it closes them itself.
 */
interface Task extends AutoCloseable {
    /** Numbers that the other side must get too; called once, before the first {@link #run}. */
    SequencedMap<String, Double> check();

    /** One operation, the work that is timed; work for a GPU is handed over, not waited for. */
    void run();

    /** The losses of so many steps from the start; called on a task that has done nothing yet. */
    default List<Double> trajectory(int steps) {
        throw new IllegalArgumentException("this task has no loss trajectory");
    }

    @Override
    default void close() {}
}
