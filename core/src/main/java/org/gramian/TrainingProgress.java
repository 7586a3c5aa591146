package org.gramian;

import java.util.OptionalDouble;

/** Progress of training, sent to the listener of a {@link Trainer}. */
public sealed interface TrainingProgress {
    /**
     * A countable task goes on: reading images, computing features, solving a classifier, steps of an epoch.
     *
     * @param name of the task
     * @param done so far
     * @param total of the task
     */
    record Task(String name, long done, long total) implements TrainingProgress {}

    /**
     * An epoch is done.
     *
     * @param fold number of the fold, from 1
     * @param stage 1: the head, 2: all layers
     * @param epoch number of the epoch, from 1
     * @param epochs at most
     * @param learningRate at its last step
     * @param loss mean over the training crops
     * @param accuracy on the training crops
     * @param validationAccuracy on the validation set; empty without one
     */
    record Epoch(
            int fold,
            int stage,
            int epoch,
            int epochs,
            double learningRate,
            double loss,
            double accuracy,
            OptionalDouble validationAccuracy)
            implements TrainingProgress {}

    /**
     * A fold is trained and evaluated.
     *
     * @param number from 1
     * @param total number of folds
     * @param result with the accuracy on its test set
     */
    record FoldDone(int number, int total, TrainingReport.Fold result) implements TrainingProgress {}

    /**
     * A message for the user, for example that unreadable images are left out.
     *
     * @param text one sentence
     */
    record Message(String text) implements TrainingProgress {}
}
