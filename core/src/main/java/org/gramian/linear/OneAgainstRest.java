package org.gramian.linear;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Problems of a linear SVM, one per class, solved by several threads in blocks of classes. Each has its own random
 * numbers, so that the number of threads does not matter.
 *
 * @param rows training rows
 * @param features the same rows in the solver's form
 * @param watch progress callback
 */
record OneAgainstRest(LabelledRows rows, Features features, SolverListener watch) {
    /** Classes per block: their values for 2,000 rows fit into the L2 cache. */
    static final int BLOCK = 8;

    /** Returns the number of blocks of classes. */
    int blocks() {
        return Math.ceilDiv(rows.classes(), BLOCK);
    }

    /** Creates the solver of a block, starting at 0. */
    DualDescent begin(int block, int[] which) {
        int[] labels = new int[rows.count()];
        Arrays.setAll(labels, rows::label);
        int end = Math.min(rows.classes(), (block + 1) * BLOCK);
        return new DualDescent(features, which, labels, block * BLOCK, end, new SplittableRandom(block));
    }

    /** Returns the cost of every row for a C. */
    double[] costs(double c) {
        double[] costs = new double[rows.count()];
        Arrays.setAll(costs, i -> c * rows.weight(rows.label(i)));
        return costs;
    }

    /** Work on one problem. */
    interface Problem {
        void solve(int number, Runnable eachPass);
    }

    /**
     * Solves all problems; the callback is never called concurrently.
     *
     * <p>An exception of a problem or the callback stops the others at their next pass and is rethrown when all have
     * ended: a parallel stream would not wait for them, and they read memory that the caller frees.
     */
    void all(String task, int problems, Problem problem) {
        AtomicInteger done = new AtomicInteger();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Object one = new Object();
        Runnable eachPass = () -> {
            synchronized (one) {
                if (failure.get() != null) {
                    throw new CancellationException("another problem failed");
                }
                try {
                    watch.at(task, done.get(), problems);
                } catch (RuntimeException | Error thrown) {
                    failure.set(thrown); // before another thread calls the callback
                    throw thrown;
                }
            }
        };
        IntConsumer work = number -> {
            if (failure.get() != null) {
                return;
            }
            try {
                problem.solve(number, eachPass);
                done.incrementAndGet();
                eachPass.run();
            } catch (RuntimeException | Error thrown) {
                failure.compareAndSet(null, thrown);
            }
        };
        IntStream.range(0, problems).parallel().forEach(work);
        Throwable first = failure.get();
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
