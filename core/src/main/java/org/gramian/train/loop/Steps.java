package org.gramian.train.loop;

import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import org.gramian.tensor.Tensor;
import org.gramian.train.Optimizer;

/** The way in which the steps of a stage are taken: one by one, many before anybody looks, or by gradients from elsewhere. */
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
        Taken take(TrainingProgress position, IntToDoubleFunction rate);

        @Override
        void close();
    }

    /**
     * Begins to take steps through examples in the given order.
     *
     * @param epoch unique number of stage and epoch, which augmentation follows from
     */
    Epoch epoch(int[] order, long epoch);

    @Override
    void close();

    /** Makes the steps of a stage once it is known where it begins. */
    @FunctionalInterface
    interface Maker {
        Steps make(StageLoop.Setup setup, Optimizer optimizer, HeadRates rates);

        /** Makes steps that are taken one by one and tell the loss of each. */
        default Steps eager(StageLoop.Setup setup, Optimizer optimizer, HeadRates rates) {
            return make(setup, optimizer, rates);
        }
    }

    /**
     * What is learned from on this machine.
     *
     * @param examples the crops
     * @param targets what their labels ask of the scores
     */
    record Source(Examples examples, Function<int[], Tensor> targets) {}

    /** The fastest way over examples on this machine. */
    static Maker over(Source source) {
        return new Maker() {
            @Override
            public Steps make(StageLoop.Setup setup, Optimizer optimizer, HeadRates rates) {
                EagerSteps single = eager(setup, optimizer, rates);
                return CudaGraphSteps.suits(setup, source, rates)
                        ? new CudaGraphSteps(setup, optimizer, rates, single)
                        : single;
            }

            @Override
            public EagerSteps eager(StageLoop.Setup setup, Optimizer optimizer, HeadRates rates) {
                return new EagerSteps(setup, source, optimizer, rates);
            }
        };
    }
}
