package org.gramian.report.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.ImagePrediction;
import org.gramian.report.run.material.FoldMaterial;
import org.gramian.report.run.material.RunMaterial;

/**
 * What the models of a run, or of some of its folds, answered to test images, the folds taken together. An image that
 * several folds test is there for each.
 *
 * @param classes their names
 * @param answers every one
 * @param material where the images are
 */
record Outcomes(List<String> classes, List<Answered> answers, RunMaterial material) {
    /** A prediction with its probability under the fold's temperature. */
    record Answered(ImagePrediction prediction, double probability, double ofTruth) {
        boolean right() {
            return prediction.right();
        }
    }

    static Outcomes of(RunMaterial material) {
        return of(material, material.folds());
    }

    /** Of some folds of a run. */
    static Outcomes of(RunMaterial material, List<FoldMaterial> folds) {
        List<Answered> answers = new ArrayList<>();
        for (FoldMaterial fold : folds) {
            Evaluation evaluation = fold.evaluation();
            for (ImagePrediction prediction : evaluation.predictions()) {
                double[] probabilities = prediction
                        .logits()
                        .probabilities(evaluation.temperature().value());
                answers.add(new Answered(
                        prediction, probabilities[prediction.predicted()], probabilities[prediction.truth()]));
            }
        }
        return new Outcomes(material.classes(), answers, material);
    }

    /** All folds in one matrix. */
    ConfusionMatrix confusion() {
        int size = classes.size();
        int[][] counts = new int[size][size];
        answers.forEach(answer ->
                counts[answer.prediction().truth()][answer.prediction().predicted()]++);
        List<List<Integer>> rows = new ArrayList<>();
        for (int[] row : counts) {
            rows.add(Arrays.stream(row).boxed().toList());
        }
        return new ConfusionMatrix(classes, rows);
    }

    /** The mistakes, the surest first. */
    List<Answered> mistakes() {
        return answers.stream()
                .filter(answer -> !answer.right())
                .sorted(Comparator.comparingDouble(Answered::probability).reversed())
                .toList();
    }

    /** Those of one cell: of mistakes the surest first, of right answers the least sure. */
    List<Answered> cell(int truth, int predicted) {
        Comparator<Answered> order = Comparator.comparingDouble(Answered::probability);
        return answers.stream()
                .filter(answer -> answer.prediction().truth() == truth
                        && answer.prediction().predicted() == predicted)
                .sorted(truth == predicted ? order : order.reversed())
                .toList();
    }

    /** An answer with its image, if the page has room for it. */
    ShownImage shown(Answered answer, ImageSheet sheet) {
        ImagePrediction prediction = answer.prediction();
        return new ShownImage(
                prediction.name(),
                classes.get(prediction.truth()),
                classes.get(prediction.predicted()),
                answer.probability(),
                answer.ofTruth(),
                sheet.place(prediction.name(), material.thumbnails()));
    }
}
