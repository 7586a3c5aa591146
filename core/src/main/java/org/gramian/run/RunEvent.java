package org.gramian.run;

import org.gramian.evaluate.Evaluation;
import org.gramian.image.audit.AuditReport;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.loop.TrainEvent;

/** Events of a run, sent to the listener as they happen. */
public sealed interface RunEvent {
    /**
     * Images are being audited.
     *
     * @param done so far
     * @param all in the dataset
     */
    record Auditing(long done, long all) implements RunEvent {}

    /**
     * The audit is done.
     *
     * @param report of all images
     */
    record Audited(AuditReport report) implements RunEvent {}

    /**
     * A remark for the user.
     *
     * @param text one sentence
     */
    record Remark(String text) implements RunEvent {}

    /**
     * A fold begins or resumes.
     *
     * @param number from 1
     * @param of number of folds
     * @param fold with its split
     */
    record FoldStarted(int number, int of, FoldPlan fold) implements RunEvent {}

    /**
     * An event of training.
     *
     * @param event the event
     */
    record Training(TrainEvent event) implements RunEvent {}

    /**
     * A comparison selected the pooling of a fold.
     *
     * @param result accuracy of every pooling on training images, the chosen one first
     */
    record PoolingChosen(PoolingSelection.Result result) implements RunEvent {}

    /**
     * The model of a stage was evaluated on the test set.
     *
     * @param stage 1 or 2
     * @param evaluation its result
     */
    record Measured(int stage, Evaluation evaluation) implements RunEvent {}

    /**
     * A fold is done.
     *
     * @param result with the model
     */
    record FoldDone(FoldResult result) implements RunEvent {}
}
