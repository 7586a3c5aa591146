package org.gramian.report.run;

import java.util.ArrayList;
import java.util.List;
import org.gramian.report.TrainingCurves;
import org.gramian.report.chart.Chart;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.loop.StageResult;

/**
 * Learning curves of a fold.
 *
 * @param fold name of the fold
 * @param charts loss, accuracy, learning rate, and distance of W from orthonormality if recorded
 * @param sentence summary
 * @param remarks on stages that were still improving, and on a refitted classifier
 */
public record LearningView(String fold, List<Chart> charts, String sentence, List<String> remarks) {
    static LearningView of(String fold, List<EpochDone> epochs, List<StageResult> stages) {
        List<Chart> charts = new ArrayList<>(List.of(
                TrainingCurves.loss(epochs), TrainingCurves.accuracy(epochs), TrainingCurves.learningRate(epochs)));
        if (epochs.stream().anyMatch(epoch -> epoch.orthogonality().isPresent())) {
            charts.add(TrainingCurves.orthogonality(epochs));
        }
        return new LearningView(fold, charts, sentence(epochs), remarks(stages));
    }

    private static List<String> remarks(List<StageResult> stages) {
        List<String> remarks = new ArrayList<>();
        for (StageResult stage : stages) {
            stage.refit().ifPresent(refit -> remarks.add(remark(refit)));
            stage.advice()
                    .ifPresent(
                            advice -> remarks.add(Character.toUpperCase(advice.charAt(0)) + advice.substring(1) + "."));
        }
        return List.copyOf(remarks);
    }

    private static String remark(StageResult.Refit refit) {
        String end = refit.kept()
                ? "is used."
                : refit.solved().isPresent()
                        ? "is not used: it makes more errors on the validation set."
                        : "is not used: a class has too few images for cross-validation.";
        return "The classifier refitted on the trained descriptors (" + refit.classifier() + ") " + end;
    }

    private static String sentence(List<EpochDone> epochs) {
        EpochDone last = epochs.getLast();
        String text = Figures.count(epochs.size(), "epoch") + "; final training loss " + Figures.number(last.loss())
                + ", training accuracy " + Figures.percent(last.accuracy()) + " %";
        if (!TrainingCurves.isValidated(epochs)) {
            return text + ". No validation set.";
        }
        return text + ", validation accuracy " + Figures.percent(1 - last.validationError()) + " %.";
    }
}
