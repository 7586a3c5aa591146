package org.gramian.run;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.compare.FoldSummary;
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

    /** Result of a fold. */
    public record FoldResult(
            Path folder, Evaluation evaluation, Optional<Evaluation> afterFirst, Optional<Cancellation.Reason> early) {
        /** Returns whether the model is still the one that the run began with, a linear classifier on average pooling. */
        public boolean isFirstModel() {
            return new FoldFolder(folder).isFirst();
        }

        public Path model() {
            return folder.resolve(FoldFolder.MODEL);
        }
    }
}
