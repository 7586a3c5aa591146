package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.gramian.tensor.Scope;
import org.junit.jupiter.api.Test;

class ClassScalingTest {
    private static final int CLASSES = 6;

    /** Classes 0 to 2 lie close together and vary little, 3 to 5 far apart and vary much: one covariance fits neither. */
    private static SyntheticRows unequal(long seed, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        SplittableRandom means = new SplittableRandom(0);
        double[][] centres = new double[CLASSES][8];
        for (int label = 0; label < CLASSES; label++) {
            double apart = label < 3 ? 0.2 : 2.5;
            Arrays.setAll(centres[label], _ -> apart * means.nextGaussian());
        }
        double[][] values = new double[count][8];
        int[] labels = new int[count];
        for (int i = 0; i < count; i++) {
            labels[i] = i % CLASSES;
            double[] centre = centres[labels[i]];
            double spread = labels[i] < 3 ? 0.2 : 2;
            Arrays.setAll(values[i], j -> (float) (centre[j] + spread * random.nextGaussian()));
        }
        int[] groups = new int[count];
        Arrays.setAll(groups, i -> i);
        return new SyntheticRows(values, labels, groups, CLASSES);
    }

    private static double logLoss(double[][] scores, int[] labels, double[] weights) {
        double loss = 0;
        for (int i = 0; i < scores.length; i++) {
            double total = Arrays.stream(scores[i]).map(Math::exp).sum();
            loss += weights[i] * (Math.log(total) - scores[i][labels[i]]);
        }
        return loss;
    }

    private static double objective(ClassScaling scaling, double[][] scores, int[] labels, double[] weights) {
        double prior = 0;
        for (int k = 0; k < scaling.scale().length; k++) {
            prior += 2 * Math.pow(scaling.scale()[k] - 1, 2) + 2 * Math.pow(scaling.offset()[k], 2);
        }
        double[][] scaled = Arrays.stream(scores).map(scaling::apply).toArray(double[][]::new);
        return logLoss(scaled, labels, weights) + prior;
    }

    @Test
    void everyStepFromTheFitRaisesTheLoss() {
        SplittableRandom random = new SplittableRandom(1);
        double[][] scores = new double[200][4];
        int[] labels = new int[200];
        for (int i = 0; i < 200; i++) {
            labels[i] = random.nextInt(4);
            int label = labels[i];
            Arrays.setAll(scores[i], k -> random.nextGaussian() * (1 + k) + (k == label ? 2 : 0));
        }
        double[] weights = Arrays.stream(labels)
                .mapToDouble(label -> new double[] {1, 2, 0.5, 1}[label])
                .toArray();
        ClassScaling found = ClassScaling.fit(scores, labels, weights);
        double least = objective(found, scores, labels, weights);
        for (int k = 0; k < 8; k++) {
            double[] rise = new double[2];
            for (int side = 0; side < 2; side++) {
                double[] scale = found.scale().clone();
                double[] offset = found.offset().clone();
                (k < 4 ? scale : offset)[k % 4] += side == 0 ? 1e-3 : -1e-3;
                rise[side] = objective(new ClassScaling(scale, offset), scores, labels, weights) - least;
                assertThat(rise[side]).as("λ/2 step² and more").isGreaterThan(1.9e-6);
            }
            assertThat((rise[0] - rise[1]) / 2e-3).as("slope").isCloseTo(0, within(1e-3));
        }
    }

    @Test
    void commonShiftsDoNotMatter() {
        double[][] scores = {{1, 0, 3}, {2, 1, 0}, {0, 4, 1}, {1, 1, 2}};
        int[] labels = {2, 0, 1, 0};
        double[][] shifted = Arrays.stream(scores)
                .map(row -> Arrays.stream(row).map(z -> z + 100 * row[0]).toArray())
                .toArray(double[][]::new);
        double[] weights = {1, 1, 1, 1};
        ClassScaling one = ClassScaling.fit(scores, labels, weights);
        ClassScaling other = ClassScaling.fit(shifted, labels, weights);
        assertThat(other.scale()).containsExactly(one.scale(), within(1e-6));
        assertThat(other.apply(shifted[0])).containsExactly(one.apply(scores[0]), within(1e-6));
    }

    @Test
    void scalingIsPartOfWeightAndBias() {
        SyntheticRows rows = unequal(2, 60);
        try (Scope _ = Scope.open()) {
            LinearModel model = rows.fit("lda");
            ClassScaling scaling =
                    new ClassScaling(new double[] {1, 2, 0.5, 1, 3, 1}, new double[] {0, 1, -1, 0, 2, 0});
            double[][] scores = rows.scores(model);
            double[][] scaled = rows.scores(scaling.apply(model));
            for (int i = 0; i < scores.length; i++) {
                assertThat(scaled[i]).containsExactly(scaling.apply(scores[i]), within(2e-3));
            }
        }
    }

    @Test
    void classesOfUnequalSpreadGetAScaleEach() {
        SyntheticRows test = unequal(4, 3000);
        try (Scope _ = Scope.open()) {
            SyntheticRows training = unequal(3, 600);
            LinearModel plain = training.fit("mean");
            LinearModel solved = training.solve("mean");
            assertThat(solved.found()).containsKeys("least_scale", "largest_scale");
            double temperature = solved.found().get("temperature");
            double[][] divided = Arrays.stream(test.scores(plain))
                    .map(row -> Arrays.stream(row).map(z -> z / temperature).toArray())
                    .toArray(double[][]::new);
            double[] ones = new double[test.count()];
            Arrays.fill(ones, 1);
            assertThat(logLoss(test.scores(solved), test.labels(), ones))
                    .isLessThan(0.95 * logLoss(divided, test.labels(), ones));
        }
    }

    @Test
    void twoRowsOfHalfTheWeightCountAsOne() {
        double[][] scores = {{1, 0, 3}, {2, 1, 0}, {0, 4, 1}, {1, 1, 2}};
        int[] labels = {2, 0, 1, 0};
        double[][] twice = new double[8][];
        int[] labelsTwice = new int[8];
        double[] halves = new double[8];
        for (int i = 0; i < 8; i++) {
            twice[i] = scores[i / 2];
            labelsTwice[i] = labels[i / 2];
            halves[i] = 0.5;
        }
        ClassScaling once = ClassScaling.fit(scores, labels, new double[] {1, 1, 1, 1});
        assertThat(ClassScaling.fit(twice, labelsTwice, halves).scale()).containsExactly(once.scale(), within(1e-6));
    }

    @Test
    void classesOfEqualSpreadKeepOneTemperature() {
        try (Scope _ = Scope.open()) {
            SyntheticRows rows = SyntheticRows.of(new SplittableRandom(5), 300, 6, 4, 0.7);
            assertThat(rows.solve("lda").found()).doesNotContainKey("least_scale");
        }
    }
}
