package org.gramian.run;

import org.gramian.evaluate.Evaluation;
import org.gramian.image.audit.AuditReport;
import org.gramian.train.loop.PoolingRace;
import org.gramian.train.loop.TrainEvent;

/** What happens in a run, told as it happens. */
public sealed interface RunEvent {
    /**
     * Images are being looked at.
     *
     * @param done so far
     * @param all in the dataset
     */
    record Auditing(long done, long all) implements RunEvent {}

    /**
     * All images were looked at.
     *
     * @param report what was found
     */
    record Audited(AuditReport report) implements RunEvent {}

    /**
     * Something that should be known.
     *
     * @param text in one sentence
     */
    record Remark(String text) implements RunEvent {}

    /**
     * A fold begins, or goes on.
     *
     * @param number from 1 on
     * @param of all folds
     * @param fold who trains, judges and tests
     */
    record FoldStarted(int number, int of, FoldPlan fold) implements RunEvent {}

    /**
     * Something happened in training.
     *
     * @param event what
     */
    record Training(TrainEvent event) implements RunEvent {}

    /**
     * A race chose the pooling of a fold.
     *
     * @param result accuracy of every pooling on training images, the chosen one first
     */
    record PoolingChosen(PoolingRace.Result result) implements RunEvent {}

    /**
     * The test images were scored after a stage.
     *
     * @param stage 1 or 2
     * @param evaluation what came of it
     */
    record Measured(int stage, Evaluation evaluation) implements RunEvent {}

    /**
     * A fold is over.
     *
     * @param result what came of it
     */
    record FoldDone(FoldResult result) implements RunEvent {}
}
