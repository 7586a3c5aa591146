package org.gramian.benchmarks;

/**
 * A training step that is taken again and again on the same batch: the one place where it is decided how Gramian takes it.
 *
 * <p>Forward, loss, backward, and every parameter moved. Whatever takes its place must give the same losses and move the
 * {@link Subject}'s parameters the same way: {@link TrainingTask} holds it to the gradients of the plain tape.
 */
interface TrainingStep extends AutoCloseable {
    /** One step; work for a GPU is handed over, not waited for. */
    void run();

    /** The loss of the last step, computed before its parameters were moved; waits for it. */
    double loss();

    @Override
    void close();

    /** The way in which steps are taken. */
    static TrainingStep of(Subject subject) {
        return RecordedTrainingStep.suits(subject) ? new RecordedTrainingStep(subject) : new TapeTrainingStep(subject);
    }
}
