package org.gramian.train.loop;

import java.util.function.Consumer;
import org.gramian.tensor.Device;
import org.gramian.train.event.TrainEvent;

/**
 * Surroundings of a training run, passed from the command down to a single step: hardware, listener, cancellation,
 * checkpoints and history.
 *
 * <p>None of it changes the trained parameters, as far as devices compute alike. What does, the seed included, is in the
 * {@link org.gramian.train.recipe.Recipe}.
 *
 * @param device computes
 * @param threads decode images
 * @param listener receives one event at a time: from any thread while files are read or a classifier is solved, else from the
 *     training thread
 * @param cancellation checked before each step, after each image that is read, and while a classifier is solved
 * @param checkpointing where and when the state of training is written
 * @param history of the epochs
 */
public record TrainingContext(
        Device device,
        int threads,
        Consumer<TrainEvent> listener,
        Cancellation cancellation,
        Checkpointing checkpointing,
        History history) {
    /** Returns a context with all cores, no listener and no checkpoint file. */
    public static TrainingContext of(Device device) {
        return new TrainingContext(
                device,
                Runtime.getRuntime().availableProcessors(),
                _ -> {},
                Cancellation.onRequest(),
                Checkpointing.every(Checkpointing.DEFAULT_INTERVAL),
                History.inMemory());
    }

    /** Returns this context with another listener. */
    public TrainingContext withListener(Consumer<TrainEvent> other) {
        return new TrainingContext(device, threads, other, cancellation, checkpointing, history);
    }

    /** Returns this context with another number of threads. */
    public TrainingContext withThreads(int other) {
        return new TrainingContext(device, other, listener, cancellation, checkpointing, history);
    }

    /** Returns this context with another cancellation. */
    public TrainingContext withCancellation(Cancellation other) {
        return new TrainingContext(device, threads, listener, other, checkpointing, history);
    }

    /** Returns this context with other checkpoints. */
    public TrainingContext withCheckpointing(Checkpointing other) {
        return new TrainingContext(device, threads, listener, cancellation, other, history);
    }

    /** Returns this context with another history. */
    public TrainingContext withHistory(History other) {
        return new TrainingContext(device, threads, listener, cancellation, checkpointing, other);
    }

    /**
     * Sends an event of the preparation of training.
     *
     * @throws InterruptedTrainingException if training is cancelled or out of time; what was prepared is computed again on resume
     */
    void preparing(TrainEvent event) {
        throwIfInterrupted();
        listener.accept(event);
    }

    /**
     * Ends preparation if it is interrupted.
     *
     * @throws InterruptedTrainingException if training is cancelled or out of time
     */
    void throwIfInterrupted() {
        cancellation.reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
    }

    /**
     * Sends an event of the evaluation of a trained model, which the end of the time budget does not prevent.
     *
     * @throws InterruptedTrainingException if the run is cancelled; it is evaluated again on resume
     */
    public void measuring(TrainEvent event) {
        throwIfCancelled();
        listener.accept(event);
    }

    /**
     * Ends work that the time budget does not limit.
     *
     * @throws InterruptedTrainingException if the run is cancelled
     */
    public void throwIfCancelled() {
        cancellation.reason().filter(Cancellation.Reason.CANCELLED::equals).ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
    }
}
