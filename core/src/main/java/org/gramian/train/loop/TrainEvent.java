package org.gramian.train.loop;

import org.gramian.train.recipe.Judgement;

/** What happens while a model is trained, told as it happens. */
public sealed interface TrainEvent {
    /**
     * Features are being collected, or pictures scored.
     *
     * @param task what is done, in words
     * @param done pictures so far
     * @param all pictures
     */
    record Collecting(String task, long done, long all) implements TrainEvent {}

    /**
     * A stage begins, or goes on after a break.
     *
     * @param stage 1 or 2
     * @param epochs the most it will take
     * @param steps in each epoch
     * @param crops training crops in each epoch
     */
    record StageStarted(int stage, int epochs, int steps, int crops) implements TrainEvent {}

    /**
     * A step was taken.
     *
     * @param stage 1 or 2
     * @param epoch from 0 on
     * @param step steps taken in this epoch, this one included
     * @param seen crops of this epoch so far
     * @param loss mean over them
     * @param accuracy part of them that was right, each before the step that learned from it
     */
    record Stepped(int stage, int epoch, int step, int seen, double loss, double accuracy) implements TrainEvent {}

    /**
     * An epoch is over.
     *
     * @param stage 1 or 2
     * @param epoch from 0 on
     * @param rate learning rate at its last step
     * @param loss mean over the training crops, while they were learned
     * @param accuracy part of the training crops that was right, while they were learned
     * @param judgement on held-back pictures, or by the training loss where there are none
     * @param best whether it is the best of the stage so far
     */
    record EpochDone(int stage, int epoch, double rate, double loss, double accuracy, Judgement judgement, boolean best)
            implements TrainEvent {}

    /**
     * A stage is over.
     *
     * @param stage 1 or 2
     * @param epochs how many it took
     * @param kept the epoch whose parameters are kept, from 0 on; -1 for those it began with
     * @param reason why it ended
     */
    record StageDone(int stage, int epochs, int kept, String reason) implements TrainEvent {}
}
