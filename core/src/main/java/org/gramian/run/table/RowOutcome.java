package org.gramian.run.table;

import java.util.List;
import org.gramian.run.FoldResult;

/** State of a table's row on one dataset. */
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
    record Unfinished(int done, int all) implements RowOutcome {}

    /**
     * The row cannot be trained.
     *
     * @param cause failure
     */
    record Failed(Throwable cause) implements RowOutcome {}
}
