package org.gramian.run;

import java.nio.file.Path;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.train.loop.Cancellation;

/**
 * What came of a fold.
 *
 * @param folder where its files are
 * @param evaluation of the model on the test images
 * @param afterFirst the same after stage 1, where a second one followed
 * @param early why training stopped before its end; nothing if it came there
 */
public record FoldResult(
        Path folder, Evaluation evaluation, Optional<Evaluation> afterFirst, Optional<Cancellation.Reason> early) {
    /** The model. */
    public Path model() {
        return folder.resolve(FoldFolder.MODEL);
    }
}
