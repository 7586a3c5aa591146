package org.gramian.train.loop;

import java.util.Optional;
import java.util.function.Consumer;

/**
 * What surrounds training: who is told, who may stop it, where its state is kept.
 *
 * @param events told what happens, one event at a time; while files are looked at
 *     or a classifier is solved for by any thread, else by the one that trains
 * @param breaks asked before each step, after each image that is looked at, and all the time while a classifier is solved for
 * @param keeper of checkpoints, if there are any
 */
public record TrainingSession(Consumer<TrainEvent> events, Cancellation breaks, Optional<CheckpointPolicy> keeper) {
    /**
     * Tells how far it is with what is needed before anything can be trained.
     *
     * @throws InterruptedTrainingException if a break is due: the task is begun again then, and finds what a cache kept
     */
    void preparing(TrainEvent event) {
        checkBreaks();
        events.accept(event);
    }

    /**
     * Stops what is being prepared where the run was cancelled.
     *
     * @throws InterruptedTrainingException if a break is due
     */
    void checkBreaks() {
        breaks.due().ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
    }

    /**
     * Tells how far it is with scores of a model that is there; a time that is over does not keep it from being measured.
     *
     * @throws InterruptedTrainingException if somebody asked for a break: the task is begun again then
     */
    public void measuring(TrainEvent.Collecting event) {
        breaks.due().filter(Cancellation.Reason.ASKED::equals).ifPresent(reason -> {
            throw new InterruptedTrainingException(reason);
        });
        events.accept(event);
    }
}
