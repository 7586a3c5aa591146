package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Scope;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CrossValidationTest {
    /** Expected calibration error in 10 bins of confidence. */
    private static double calibrationError(double[][] scores, int[] labels) {
        double[] confidence = new double[10];
        double[] right = new double[10];
        for (int i = 0; i < scores.length; i++) {
            int top = CrossValidation.top(scores[i]);
            double max = scores[i][top];
            double p = 1 / Arrays.stream(scores[i]).map(z -> Math.exp(z - max)).sum();
            int bin = Math.min(9, (int) (10 * p));
            confidence[bin] += p;
            right[bin] += top == labels[i] ? 1 : 0;
        }
        double error = 0;
        for (int bin = 0; bin < 10; bin++) {
            error += Math.abs(confidence[bin] - right[bin]) / scores.length;
        }
        return error;
    }

    /** The first rows train, the others, of the same Gaussians, test. */
    private static SyntheticRows part(SyntheticRows all, int from, int to) {
        return new SyntheticRows(
                Arrays.copyOfRange(all.values(), from, to),
                Arrays.copyOfRange(all.labels(), from, to),
                Arrays.copyOfRange(all.groups(), from, to),
                all.classes());
    }

    /** Rows shorter than many, and longer. */
    @ParameterizedTest
    @ValueSource(strings = {"svm", "svm:C=1", "mean", "lda"})
    void probabilitiesOfOverlappingGaussiansAreCalibrated(String solver) {
        for (int size : new int[] {6, 500}) {
            SyntheticRows all = SyntheticRows.of(new SplittableRandom(1), 4400, size, 5, size == 6 ? 0.5 : 0.08);
            SyntheticRows training = part(all, 0, 400);
            SyntheticRows test = part(all, 400, 4400);
            try (Scope _ = Scope.open()) {
                LinearModel model = training.solve(solver);
                double[][] scores = test.scores(model);
                assertThat(calibrationError(scores, test.labels()))
                        .as("length " + size)
                        .isLessThan(0.05);
                CrossValidation found = model.crossValidation().orElseThrow();
                int[] answers = test.answers(model);
                double right = 0;
                for (int i = 0; i < answers.length; i++) {
                    right += answers[i] == test.labels()[i] ? 1 : 0;
                }
                assertThat(found.accuracy())
                        .as("as on new rows")
                        .isCloseTo(right / answers.length, within(0.1))
                        .isGreaterThan(0.3);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm:C=10", "svm", "mean", "lda", "lda:shrinkage=0.3"})
    void foldingTheTemperatureKeepsEveryPrediction(String solver) {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(2), 90, 7, 4, 0.5);
        try (Scope _ = Scope.open()) {
            LinearModel plain = rows.fit(solver);
            LinearModel solved = rows.solve(solver);
            assertThat(solved.crossValidation().orElseThrow().scaling()).isEmpty();
            assertThat(rows.answers(solved)).isEqualTo(rows.answers(plain));
            double temperature = solved.crossValidation().orElseThrow().temperature();
            assertThat(solved.found()).containsEntry("temperature", temperature);
            double[] weight = plain.weight().toDoubles();
            double[] scaled = solved.weight().toDoubles();
            for (int i = 0; i < weight.length; i++) {
                assertThat(scaled[i] * temperature).isCloseTo(weight[i], within(1e-5 * (1 + Math.abs(weight[i]))));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"svm:C=1", "mean", "lda:shrinkage=0.5"})
    void accuracyIsThatOfALoopOverTheFolds(String solver) {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(3), 80, 5, 3, 0.7);
        try (Scope _ = Scope.open()) {
            LabelledRows given = rows.rows();
            boolean searches = solver.startsWith("svm");
            GroupFolds folds = searches ? GroupFolds.of(given) : GroupFolds.toCalibrate(given);
            boolean[] right = new boolean[80];
            double total = 0;
            for (int fold = 0; fold < folds.count(); fold++) {
                LinearModel model =
                        LinearSolver.parse(solver).fit(given.part(folds.rows(fold, false)), SolverListener.NONE);
                int[] answers = rows.answers(model);
                for (int i : folds.rows(fold, true)) {
                    right[i] = answers[i] == rows.labels()[i];
                    total += right[i] ? 1 : 0;
                }
            }
            CrossValidation found = LinearSolver.parse(solver)
                    .solve(given, SolverListener.NONE)
                    .crossValidation()
                    .orElseThrow();
            assertThat(found.folds()).isEqualTo(searches ? 5 : 10);
            // svm centres and scales a fold by the mean of all rows: a row at the boundary may differ
            assertThat(found.accuracy()).isCloseTo(total / 80, within(searches ? 0.03 : 0));
            int differing = 0;
            for (int i = 0; i < 80; i++) {
                differing += found.correct()[i] == right[i] ? 0 : 1;
            }
            assertThat(differing).isLessThanOrEqualTo(searches ? 2 : 0);
        }
    }

    @Test
    void rowsOfAGroupAreScoredTogether() {
        SyntheticRows each = SyntheticRows.of(new SplittableRandom(4), 60, 5, 3, 0.7);
        try (Scope _ = Scope.open()) {
            LinearModel once = each.solve("mean");
            LinearModel twice = each.repeated(2).solve("mean");
            assertThat(twice.crossValidation().orElseThrow().correct())
                    .isEqualTo(once.crossValidation().orElseThrow().correct());
        }
    }

    @Test
    void separatedClassesGetConfidentButFiniteProbabilities() {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(5), 60, 8, 3, 20);
        try (Scope _ = Scope.open()) {
            LinearModel model = rows.solve("svm");
            CrossValidation found = model.crossValidation().orElseThrow();
            assertThat(found.accuracy()).isEqualTo(1);
            assertThat(found.temperature()).isBetween(1e-3, 0.9);
            assertThat(found.logLoss()).isBetween(1e-6, 0.1);
        }
    }

    @Test
    void unsolvableFoldIsNotCalibrated() {
        // 22 rows of length 20 in 2 classes have a covariance of full rank; 9 of 10 folds have not
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(7), 22, 20, 2);
        try (Scope _ = Scope.open()) {
            LinearModel model = rows.solve("lda:shrinkage=0");
            assertThat(model.crossValidation()).isEmpty();
        }
    }
}
