package org.gramian.train.loop;

import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.gramian.train.Optimizer;
import org.gramian.train.Optimizer.ParameterGroup;
import org.gramian.train.loop.StageProgress.EpochSums;

/** Optimizer steps of a stage: eager, or replayed as a CUDA graph. */
interface Steps extends AutoCloseable {
    void startEpoch(int[] order, long epoch);

    /** Takes the next step, or several. A non-finite loss or gradient ends training with the parameters of before that step. */
    StepResult step(StageProgress progress, IntToDoubleFunction learningRate);

    record StepResult(int steps, EpochSums sums) {}

    @Override
    void close();

    /** Returns the fastest steps on this machine. */
    static Steps of(TrainingStage stage, Optimizer optimizer, List<ParameterGroup> groups) {
        EagerSteps eager = new EagerSteps(stage, optimizer, groups);
        return CudaGraphSteps.isSupported(stage, groups) ? new CudaGraphSteps(stage, optimizer, groups, eager) : eager;
    }
}
