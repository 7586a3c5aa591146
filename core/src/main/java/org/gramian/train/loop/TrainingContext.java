package org.gramian.train.loop;

import java.util.function.Consumer;
import org.gramian.tensor.Device;

/**
 * Surroundings of a training run, passed from the command down to a single step: hardware, listener, cancellation and
 * checkpoints.
 *
 * <p>None of it changes the trained parameters, as far as devices compute alike. What does, the seed included, is in the
 * {@link org.gramian.train.recipe.Recipe}.
 *
 * @param <E> events of the layer: a run with its folds has more kinds of them than a training stage
 * @param device computes
 * @param threads decode images
 * @param listener receives one event at a time: from any thread while files are read or a classifier is solved, else from the
 *     training thread
 * @param cancellation checked before each step, after each image that is read, and while a classifier is solved
 * @param checkpointing where and when the state of training is written
 */
public record TrainingContext<E>(
        Device device, int threads, Consumer<E> listener, Cancellation cancellation, Checkpointing checkpointing) {
    /** Returns a context with all cores, no listener and no checkpoint file. */
    public static <E> TrainingContext<E> of(Device device) {
        return new TrainingContext<>(
                device,
                Runtime.getRuntime().availableProcessors(),
                _ -> {},
                Cancellation.onRequest(),
                Checkpointing.every(Checkpointing.DEFAULT_INTERVAL));
    }

    /** Returns this context with another listener, which may take the events of another layer. */
    public <T> TrainingContext<T> withListener(Consumer<T> other) {
        return new TrainingContext<>(device, threads, other, cancellation, checkpointing);
    }

    /** Returns this context with another number of threads. */
    public TrainingContext<E> withThreads(int other) {
        return new TrainingContext<>(device, other, listener, cancellation, checkpointing);
    }

    /** Returns this context with another cancellation. */
    public TrainingContext<E> withCancellation(Cancellation other) {
        return new TrainingContext<>(device, threads, listener, other, checkpointing);
    }

    /** Returns this context with other checkpoints. */
    public TrainingContext<E> withCheckpointing(Checkpointing other) {
        return new TrainingContext<>(device, threads, listener, cancellation, other);
    }

    /**
     * Sends an event of the preparation of training.
     *
     * @throws InterruptedTrainingException if training is cancelled or out of time; what was prepared is computed again on resume
     */
    void preparing(E event) {
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
    public void measuring(E event) {
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
