package org.gramian.train.loop;

import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.gramian.train.Optimizer;
import org.gramian.train.ParameterGroup;
import org.gramian.train.loop.StageProgress.EpochSums;

/** Optimizer steps of a stage: eager, or replayed as a CUDA graph. */
interface Steps extends AutoCloseable {
    /** Starts an epoch, or continues it after a resume. */
    void startEpoch(int[] order, long epoch);

    /**
     * Takes the next step, or several.
     *
     * @throws NonFiniteLossException if the loss or a gradient is NaN or infinite; the parameters are then those of before that step.
     *     After any exception the steps before it in this call are undefined: training ends
     */
    StepResult step(StageProgress progress, IntToDoubleFunction learningRate);

    /** Steps that were taken. */
    record StepResult(int steps, EpochSums sums) {}

    @Override
    void close();

    /** Returns the fastest steps on this machine. */
    static Steps of(TrainingStage stage, Optimizer optimizer, List<ParameterGroup> groups) {
        EagerSteps eager = new EagerSteps(stage, optimizer, groups);
        return CudaGraphSteps.isSupported(stage, groups) ? new CudaGraphSteps(stage, optimizer, groups, eager) : eager;
    }
}
