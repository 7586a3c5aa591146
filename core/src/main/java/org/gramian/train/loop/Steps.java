package org.gramian.train.loop;

import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.loop.StageProgress.EpochSums;

/** Optimizer steps of a stage: eager, replayed as a CUDA graph, or with gradients from other machines. */
public interface Steps extends AutoCloseable {
    /**
     * Starts an epoch, or continues it after a resume.
     *
     * @param order indices of the examples that are left
     * @param epoch unique number of (stage, epoch), from which augmentation follows
     */
    void startEpoch(int[] order, long epoch);

    /**
     * Takes the next step, or several.
     *
     * @param progress before it
     * @param learningRate of each step of the epoch
     * @throws NonFiniteLossException if the loss or a gradient is NaN or infinite; the parameters are then those of before that step.
     *     After any exception the steps before it in this call are undefined: training ends
     */
    StepResult step(StageProgress progress, IntToDoubleFunction learningRate);

    /**
     * Steps that were taken.
     *
     * @param steps at least one
     * @param sums of the epoch after them
     */
    record StepResult(int steps, EpochSums sums) {}

    @Override
    void close();

    /** Creates the steps of a stage once its progress is known. */
    @FunctionalInterface
    interface Factory {
        Steps create(TrainingStage stage, Optimizer optimizer, List<ParameterGroup> groups);
    }

    /** Returns a factory of the fastest steps over examples on this machine. */
    static Factory over(Examples examples, Targets targets) {
        return (stage, optimizer, groups) -> {
            EagerSteps eager = new EagerSteps(stage, examples, targets, optimizer, groups);
            return CudaGraphSteps.isSupported(stage, examples, groups)
                    ? new CudaGraphSteps(stage, examples, targets, optimizer, groups, eager)
                    : eager;
        };
    }
}
