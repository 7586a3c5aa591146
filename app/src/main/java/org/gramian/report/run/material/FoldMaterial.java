package org.gramian.report.run.material;

import java.util.List;
import java.util.Optional;
import org.gramian.evaluate.Evaluation;
import org.gramian.gallery.Gallery;
import org.gramian.inspect.SpdInspection;
import org.gramian.run.StageResult;
import org.gramian.train.loop.LearningRateFinder;
import org.gramian.train.loop.PoolingRace;
import org.gramian.train.loop.TrainEvent.EpochDone;

/**
 * What there is of one fold.
 *
 * @param evaluation of the model on the test images
 * @param afterFirst the same after stage 1, where a second one followed
 * @param epochs the course of training
 * @param stages how the stages of training ended
 * @param gallery images and descriptors
 * @param model the model's file
 * @param matrices what became of the matrices of its pooling
 * @param poolings those that were compared on the training images, the chosen one first; none where the pooling was given
 * @param rateTests range tests that chose learning rates, one per stage; none where they were given
 */
public record FoldMaterial(
        Evaluation evaluation,
        Optional<Evaluation> afterFirst,
        List<EpochDone> epochs,
        List<StageResult> stages,
        Optional<Gallery> gallery,
        Optional<ModelMaterial> model,
        Optional<SpdInspection> matrices,
        List<PoolingRace.Entry> poolings,
        List<LearningRateFinder.Result> rateTests) {
    public FoldMaterial {
        epochs = List.copyOf(epochs);
        stages = List.copyOf(stages);
        poolings = List.copyOf(poolings);
        rateTests = List.copyOf(rateTests);
    }

    /** An evaluation alone. */
    public static FoldMaterial of(Evaluation evaluation, Optional<ModelMaterial> model) {
        return new FoldMaterial(
                evaluation,
                Optional.empty(),
                List.of(),
                List.of(),
                Optional.empty(),
                model,
                Optional.empty(),
                List.of(),
                List.of());
    }

    /** The fold's name. */
    public String name() {
        return evaluation.setting().fold();
    }
}
