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
 * @param listener receives one event at a time: from any thread while files are read or a classifier is solved, else from the
 *     training thread
 * @param cancellation checked before each step, after each image that is read, and while a classifier is solved
 */
public record TrainingContext(
        Device device,
        int threads,
        Consumer<TrainEvent> listener,
        Cancellation cancellation,
        Checkpointing checkpointing,
        History history) {
    public static TrainingContext of(Device device) {
        return new TrainingContext(
                device,
                Runtime.getRuntime().availableProcessors(),
                _ -> {},
                Cancellation.onRequest(),
                Checkpointing.every(Checkpointing.DEFAULT_INTERVAL),
                History.inMemory());
    }

    public TrainingContext withListener(Consumer<TrainEvent> other) {
        return new TrainingContext(device, threads, other, cancellation, checkpointing, history);
    }

    public TrainingContext withThreads(int other) {
        return new TrainingContext(device, other, listener, cancellation, checkpointing, history);
    }

    public TrainingContext withCancellation(Cancellation other) {
        return new TrainingContext(device, threads, listener, other, checkpointing, history);
    }

    public TrainingContext withCheckpointing(Checkpointing other) {
        return new TrainingContext(device, threads, listener, cancellation, other, history);
    }

    public TrainingContext withHistory(History other) {
        return new TrainingContext(device, threads, listener, cancellation, checkpointing, other);
    }

    public void send(TrainEvent event) {
        listener.accept(event);
    }

    public void warn(String text) {
        send(new TrainEvent.Warning(text));
    }

    /** Sends an event of the preparation of training. */
    void preparing(TrainEvent event) {
        throwIfInterrupted();
        listener.accept(event);
    }

    /** Ends preparation if it is interrupted. */
    void throwIfInterrupted() {
        cancellation.reason().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
    }

    /** Sends an event of the evaluation of a trained model, which the end of the time budget does not prevent. */
    public void measuring(TrainEvent event) {
        throwIfCancelled();
        listener.accept(event);
    }

    /** Ends work that the time budget does not limit. */
    public void throwIfCancelled() {
        cancellation.reason().filter(Cancellation.Reason.CANCELLED::equals).ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
    }
}
