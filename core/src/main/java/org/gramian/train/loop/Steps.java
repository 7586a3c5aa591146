package org.gramian.train.loop;

import java.util.function.IntToDoubleFunction;
import org.gramian.train.Sgd;

/** The way in which the steps of a stage are taken: one by one, or many before anybody looks. */
interface Steps extends AutoCloseable {
    /**
     * What was taken.
     *
     * @param steps at least one
     * @param sums of the epoch after them
     */
    record Taken(int steps, EpochSums sums) {}

    /** A way through some examples. */
    interface Epoch extends AutoCloseable {
        /**
         * Takes the next step, or several.
         *
         * @param position before it
         * @param rate the learning rate of each step of the epoch
         * @throws NonFiniteLossException if the loss or a gradient is no finite number; the parameters are then those of before
         *     that step. After any exception nothing is known of the steps before it in this call: what was trained is given up
         */
        Taken take(Position position, IntToDoubleFunction rate);

        @Override
        void close();
    }

    /** Begins to take steps through examples in the given order. */
    Epoch epoch(int[] order);

    @Override
    void close();

    /** The fastest way for a stage. */
    static Steps of(StageLoop.Setup setup, Sgd sgd, HeadRates rates) {
        SingleSteps single = new SingleSteps(setup, sgd, rates);
        return RecordedSteps.suits(setup, rates) ? new RecordedSteps(setup, sgd, rates, single) : single;
    }
}
