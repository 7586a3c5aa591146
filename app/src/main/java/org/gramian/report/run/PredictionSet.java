package org.gramian.report.run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.report.Figures;

/** Predictions of a run for its test images, pooled over folds. An image that several folds test occurs once for each. */
public record PredictionSet(List<String> classes, List<TestPrediction> predictions, ImageSheet.Thumbnails thumbnails) {
    /**
     * Test image with its prediction.
     *
     * @param probability of the predicted class under the temperature of the fold, 0 to 1
     */
    public record TestPrediction(
            ImagePrediction prediction, String truth, String predicted, double probability, int image) {
        /** Returns the name of the sample: its path in the dataset. */
        public String name() {
            return prediction.name();
        }

        /** Returns the file name without folders, which mostly repeat the class. */
        public String fileName() {
            return name().substring(name().lastIndexOf('/') + 1);
        }

        public boolean right() {
            return prediction.right();
        }

        /** Returns a one-line description, e.g. as the alternative text of the image. */
        public String text() {
            return name() + ": " + truth
                    + (right() ? ", predicted correctly" : ", predicted as " + predicted)
                    + " (" + Figures.probability(probability) + ")";
        }
    }

    static PredictionSet of(RunData data) {
        return of(data, data.evaluations());
    }

    /** Pools some folds of a run. */
    static PredictionSet of(RunData data, List<Evaluation> folds) {
        List<String> classes = data.classes();
        List<TestPrediction> predictions = new ArrayList<>();
        for (Evaluation fold : folds) {
            for (ImagePrediction one : fold.predictions()) {
                double[] probabilities =
                        one.logits().probabilities(fold.temperature().value());
                predictions.add(new TestPrediction(
                        one,
                        classes.get(one.truth()),
                        classes.get(one.predicted()),
                        probabilities[one.predicted()],
                        -1));
            }
        }
        return new PredictionSet(classes, predictions, data.thumbnails());
    }

    ConfusionMatrix confusion() {
        return ConfusionMatrix.of(
                classes, predictions.stream().map(TestPrediction::prediction).toList());
    }

    /** Returns the errors, most confident first. */
    List<TestPrediction> mistakes() {
        return predictions.stream()
                .filter(one -> !one.right())
                .sorted(Comparator.comparingDouble(TestPrediction::probability).reversed())
                .toList();
    }

    /** Returns a cell of the confusion matrix: errors most confident first, correct predictions least confident first. */
    List<TestPrediction> cell(int truth, int predicted) {
        Comparator<TestPrediction> order = Comparator.comparingDouble(TestPrediction::probability);
        return predictions.stream()
                .filter(one ->
                        one.prediction().truth() == truth && one.prediction().predicted() == predicted)
                .sorted(truth == predicted ? order : order.reversed())
                .toList();
    }

    /** Returns a prediction with its thumbnail, if the page has room for it. */
    TestPrediction shown(TestPrediction one, ImageSheet sheet) {
        int image = sheet.place(one.name(), thumbnails).orElse(-1);
        return new TestPrediction(one.prediction(), one.truth(), one.predicted(), one.probability(), image);
    }
}
