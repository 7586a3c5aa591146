package org.gramian.run;

import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.FoldSummary;
import org.gramian.image.audit.AuditReport;
import org.gramian.train.loop.Cancellation;

/**
 * What came of a run.
 *
 * @param folds those that have a model
 * @param audit what was found in the images; those that could not be read were left out
 * @param early why it stopped before its end; nothing if it came there
 */
public record RunResult(List<FoldResult> folds, AuditReport audit, Optional<Cancellation.Reason> early) {
    public RunResult {
        folds = List.copyOf(folds);
    }

    /** All numbers over the folds, of which there is at least one. */
    public FoldSummary summary() {
        return FoldSummary.of(folds.stream().map(FoldResult::evaluation).toList());
    }
}
