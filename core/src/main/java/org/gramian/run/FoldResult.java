package org.gramian.run;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.train.loop.Cancellation;

/**
 * Result of a fold.
 *
 * @param afterFirst evaluation after stage 1, if stage 2 followed
 * @param early why training stopped early; empty if it came to its end
 */
public record FoldResult(
        Path folder, Evaluation evaluation, Optional<Evaluation> afterFirst, Optional<Cancellation.Reason> early) {
    /** Returns whether the model is still the one that the run began with, a linear classifier on average pooling. */
    public boolean isFirstModel() {
        return new FoldFolder(folder).isFirst();
    }

    /** Returns the file of the model. */
    public Path model() {
        return folder.resolve(FoldFolder.MODEL);
    }
}
