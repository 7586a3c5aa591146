package org.gramian.benchmarks;

/**
 * Training step on a fixed batch: forward, loss, backward and update.
 *
 * <p>All implementations must give the same losses and updates; {@link TrainingTask} compares them with the gradients of a
 * plain tape.
 */
interface TrainingStep extends AutoCloseable {
    /** Takes one step; does not wait for the GPU. */
    void run();

    /** Returns the loss of the last step, before its update; waits for the GPU. */
    double loss();

    @Override
    void close();

    /** Returns a CUDA graph step if possible, otherwise an eager one. */
    static TrainingStep of(BenchModel subject) {
        return CudaGraphTrainingStep.suits(subject)
                ? new CudaGraphTrainingStep(subject)
                : new TapeTrainingStep(subject);
    }
}
