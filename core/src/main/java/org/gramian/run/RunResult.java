package org.gramian.run;

import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.FoldSummary;
import org.gramian.image.audit.AuditReport;
import org.gramian.train.loop.Cancellation;

/** Result of a run. */
public record RunResult(List<FoldResult> folds, AuditReport audit, Optional<Cancellation.Reason> early) {
    public RunResult {
        folds = List.copyOf(folds);
    }

    public FoldSummary summary() {
        return FoldSummary.of(folds.stream().map(FoldResult::evaluation).toList());
    }
}
