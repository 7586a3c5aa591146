package org.gramian.run.table;

import java.util.List;
import org.gramian.run.FoldResult;

/** What became of a row on a dataset. */
public sealed interface RowOutcome {
    /**
     * All folds are trained.
     *
     * @param folds what came of each
     */
    record Finished(List<FoldResult> folds) implements RowOutcome {
        public Finished {
            folds = List.copyOf(folds);
        }
    }

    /**
     * Something is left to train.
     *
     * @param done how many folds are finished
     * @param all how many there are
     */
    record Waiting(int done, int all) implements RowOutcome {}

    /**
     * It cannot be trained.
     *
     * @param cause why
     */
    record Failed(Throwable cause) implements RowOutcome {}
}
