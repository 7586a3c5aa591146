package org.gramian.train.loop;

import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import org.gramian.tensor.Tensor;
import org.gramian.train.Optimizer;
import org.gramian.train.loop.TrainableModel.HeadRates;
import org.gramian.train.loop.TrainingProgress.EpochSums;

/** Optimizer steps of a stage: eager, replayed as a CUDA graph, or with gradients from other machines. */
interface Steps extends AutoCloseable {
    /**
     * Steps that were taken.
     *
     * @param steps at least one
     * @param sums of the epoch after them
     */
    record Taken(int steps, EpochSums sums) {}

    /** Steps of one epoch. */
    interface Epoch extends AutoCloseable {
        /**
         * Takes the next step, or several.
         *
         * @param progress before it
         * @param learningRate of each step of the epoch
         * @throws NonFiniteLossException if the loss or a gradient is NaN or infinite; the parameters are then those of before
         *     that step. After any exception the steps before it in this call are undefined: training ends
         */
        Taken take(TrainingProgress progress, IntToDoubleFunction learningRate);

        @Override
        void close();
    }

    /**
     * Begins an epoch.
     *
     * @param order of the examples
     * @param epoch unique number of (stage, epoch), from which augmentation follows
     */
    Epoch epoch(int[] order, long epoch);

    @Override
    void close();

    /** Creates the steps of a stage once its learning rates are known. */
    @FunctionalInterface
    interface Factory {
        Steps create(TrainingStage stage, Optimizer optimizer, HeadRates rates);

        /** Creates steps that are taken one by one and return the loss of each. */
        default Steps eager(TrainingStage stage, Optimizer optimizer, HeadRates rates) {
            return create(stage, optimizer, rates);
        }
    }

    /**
     * Training examples on this machine.
     *
     * @param examples the crops
     * @param targets maps labels to targets {@code [n, k]}
     */
    record Source(Examples examples, Function<int[], Tensor> targets) {}

    /** Returns a factory of the fastest steps over examples on this machine. */
    static Factory over(Source source) {
        return new Factory() {
            @Override
            public Steps create(TrainingStage stage, Optimizer optimizer, HeadRates rates) {
                EagerSteps eager = eager(stage, optimizer, rates);
                return CudaGraphSteps.suits(stage, source, rates)
                        ? new CudaGraphSteps(stage, optimizer, rates, eager)
                        : eager;
            }

            @Override
            public EagerSteps eager(TrainingStage stage, Optimizer optimizer, HeadRates rates) {
                return new EagerSteps(stage, source, optimizer, rates);
            }
        };
    }
}
