package org.gramian.run.table;

import java.util.List;
import org.gramian.run.FoldResult;

/** What became of a row on a dataset. */
public sealed interface RowOutcome {
    /**
     * All folds are trained.
     *
     * @param folds results of the folds
     */
    record Finished(List<FoldResult> folds) implements RowOutcome {
        public Finished {
            folds = List.copyOf(folds);
        }
    }

    /**
     * Some folds are not trained yet.
     *
     * @param done number of finished folds
     * @param all number of folds
     */
    record Waiting(int done, int all) implements RowOutcome {}

    /**
     * The row cannot be trained.
     *
     * @param cause failure
     */
    record Failed(Throwable cause) implements RowOutcome {}
}
