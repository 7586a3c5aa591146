package org.gramian.report.run.data;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.gallery.Gallery;
import org.gramian.inspect.SpdInspection;
import org.gramian.model.ModelHeader;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.PoolingSelection;
import org.gramian.train.loop.StageResult;

/**
 * Files of one fold.
 *
 * @param evaluation on the test images
 * @param afterFirst evaluation after stage 1, if stage 2 followed
 * @param epochs training history
 * @param stages results of the training stages
 * @param gallery thumbnails and descriptors
 * @param model model file
 * @param matrices inspection of the matrices of the pooling
 * @param poolings compared on the training images, the selected one first; empty if the pooling was given
 */
public record FoldData(
        Evaluation evaluation,
        Optional<Evaluation> afterFirst,
        List<EpochDone> epochs,
        List<StageResult> stages,
        Optional<Gallery> gallery,
        Optional<ModelData> model,
        Optional<SpdInspection> matrices,
        List<PoolingSelection.Entry> poolings) {
    /**
     * Model file without its parameters.
     *
     * @param file path as given
     * @param bytes file size
     * @param header metadata
     */
    public record ModelData(Path file, long bytes, ModelHeader header) {}

    public FoldData {
        epochs = List.copyOf(epochs);
        stages = List.copyOf(stages);
        poolings = List.copyOf(poolings);
    }

    /** Returns a fold with an evaluation only. */
    public static FoldData of(Evaluation evaluation, Optional<ModelData> model) {
        return new FoldData(
                evaluation,
                Optional.empty(),
                List.of(),
                List.of(),
                Optional.empty(),
                model,
                Optional.empty(),
                List.of());
    }

    /** Returns the name of the fold. */
    public String name() {
        return evaluation.setting().fold();
    }
}
