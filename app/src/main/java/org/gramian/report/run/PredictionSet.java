package org.gramian.report.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.ImagePrediction;
import org.gramian.report.run.data.FoldData;
import org.gramian.report.run.data.RunData;

/**
 * Predictions of a run for its test images, pooled over folds. An image that several folds test occurs once for each.
 *
 * @param classes class names
 * @param predictions with their probabilities
 * @param data of the run
 */
record PredictionSet(List<String> classes, List<ScoredPrediction> predictions, RunData data) {
    /** Prediction with the probabilities of the predicted and the true class under the temperature of the fold. */
    record ScoredPrediction(ImagePrediction prediction, double probability, double ofTruth) {
        boolean right() {
            return prediction.right();
        }
    }

    static PredictionSet of(RunData data) {
        return of(data, data.folds());
    }

    /** Pools some folds of a run. */
    static PredictionSet of(RunData data, List<FoldData> folds) {
        List<ScoredPrediction> predictions = new ArrayList<>();
        for (FoldData fold : folds) {
            Evaluation evaluation = fold.evaluation();
            for (ImagePrediction prediction : evaluation.predictions()) {
                double[] probabilities = prediction
                        .logits()
                        .probabilities(evaluation.temperature().value());
                predictions.add(new ScoredPrediction(
                        prediction, probabilities[prediction.predicted()], probabilities[prediction.truth()]));
            }
        }
        return new PredictionSet(data.classes(), predictions, data);
    }

    /** Returns the confusion matrix of all folds. */
    ConfusionMatrix confusion() {
        int size = classes.size();
        int[][] counts = new int[size][size];
        predictions.forEach(scored ->
                counts[scored.prediction().truth()][scored.prediction().predicted()]++);
        List<List<Integer>> rows = new ArrayList<>();
        for (int[] row : counts) {
            rows.add(Arrays.stream(row).boxed().toList());
        }
        return new ConfusionMatrix(classes, rows);
    }

    /** Returns the errors, most confident first. */
    List<ScoredPrediction> mistakes() {
        return predictions.stream()
                .filter(scored -> !scored.right())
                .sorted(Comparator.comparingDouble(ScoredPrediction::probability)
                        .reversed())
                .toList();
    }

    /** Returns a cell of the confusion matrix: errors most confident first, correct predictions least confident first. */
    List<ScoredPrediction> cell(int truth, int predicted) {
        Comparator<ScoredPrediction> order = Comparator.comparingDouble(ScoredPrediction::probability);
        return predictions.stream()
                .filter(scored -> scored.prediction().truth() == truth
                        && scored.prediction().predicted() == predicted)
                .sorted(truth == predicted ? order : order.reversed())
                .toList();
    }

    /** Returns a prediction with its thumbnail, if the page has room for it. */
    TestPrediction shown(ScoredPrediction scored, ImageSheet sheet) {
        ImagePrediction prediction = scored.prediction();
        return new TestPrediction(
                prediction.name(),
                classes.get(prediction.truth()),
                classes.get(prediction.predicted()),
                scored.probability(),
                scored.ofTruth(),
                sheet.place(prediction.name(), data.thumbnails()));
    }
}
