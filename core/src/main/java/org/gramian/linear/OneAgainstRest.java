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
 * The problems of a linear SVM, one for each class, in blocks of classes that are solved by several threads; each has random numbers of its own,
 * so that their number plays no part.
 *
 * @param rows what is learned from
 * @param features the same as descent reads it
 * @param watch progress callback
 */
record OneAgainstRest(LabelledRows rows, Features features, SolverListener watch) {
    /** Classes of one descent: their values at 2,000 rows stay in the second-level cache. */
    static final int BLOCK = 8;

    /** Number of blocks of classes. */
    int blocks() {
        return Math.ceilDiv(rows.classes(), BLOCK);
    }

    /** Descent for the classes of a block, at 0. */
    DualDescent begin(int block, int[] which) {
        int[] labels = new int[rows.count()];
        Arrays.setAll(labels, rows::label);
        int end = Math.min(rows.classes(), (block + 1) * BLOCK);
        return new DualDescent(features, which, labels, block * BLOCK, end, new SplittableRandom(block));
    }

    /** The cost of every row for a C. */
    double[] costs(double c) {
        double[] costs = new double[rows.count()];
        Arrays.setAll(costs, i -> c * rows.weight(rows.label(i)));
        return costs;
    }

    /** What is done for one problem. */
    interface Problem {
        void solve(int number, Runnable eachPass);
    }

    /**
     * Solves all problems; the callback is never called concurrently.
     *
     * <p>What a problem or the watch throws stops the others at their next pass, and is thrown here once all of them have
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
                    failure.set(thrown); // before another thread comes to tell it
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
