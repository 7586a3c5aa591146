package org.gramian.run;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.train.loop.Cancellation;

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
