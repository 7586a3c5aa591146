package org.gramian.benchmarks;

import java.util.List;
import java.util.SequencedMap;

/**
 * Work of one side for a {@link BenchWorkload}.
 *
 * <p>Its tensors belong to the scope in which it is created, unless it closes them itself.
 */
interface Task extends AutoCloseable {
    /** Returns values that all sides must agree in; called once, before the first {@link #run}. */
    SequencedMap<String, Double> check();

    /** Runs one step, which is timed; does not wait for the GPU. */
    void run();

    /** Returns the losses of the first steps of a new task. */
    default List<Double> trajectory(int steps) {
        throw new IllegalArgumentException("this task has no loss trajectory");
    }

    @Override
    default void close() {}
}
