package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Scope;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogisticTest {
    private static double[] softmax(double[] scores) {
        double max = Arrays.stream(scores).max().orElseThrow();
        double[] weights = Arrays.stream(scores).map(z -> Math.exp(z - max)).toArray();
        double total = Arrays.stream(weights).sum();
        return Arrays.stream(weights).map(w -> w / total).toArray();
    }

    /** The gradient {@code w_k + C Σ_i s_i (p_ik − y_ik) z_i} vanishes; few long rows, and many short ones. */
    @ParameterizedTest
    @ValueSource(ints = {3, 60})
    void theGradientVanishes(int size) {
        for (int seed = 0; seed < 5; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            SyntheticRows rows = SyntheticRows.of(random, 40, size, 3, 0.5);
            double c = Math.pow(10, random.nextInt(-1, 4));
            double[] classWeights = {1, 0.5, 3};
            try (Scope _ = Scope.open()) {
                LinearModel model =
                        new Logistic(OptionalDouble.of(c)).fit(rows.rows().weighted(classWeights), SolverListener.NONE);
                assertThat(model.found().get("gradient")).isLessThan(1e-5);
                assertOptimal(rows, model, c, classWeights);
            }
        }
    }

    private static void assertOptimal(SyntheticRows rows, LinearModel model, double c, double[] classWeights) {
        int n = rows.count();
        int d = rows.size();
        double[] mean = rows.mean();
        double scale = rows.scale();
        double[][] scores = rows.scores(model);
        double[] weight = model.weight().toDoubles();
        double[] bias = model.bias().toDoubles();
        for (int k = 0; k < rows.classes(); k++) {
            double[] gradient = new double[d + 1];
            double[] first = new double[d + 1];
            gradient[d] = bias[k];
            for (int j = 0; j < d; j++) {
                gradient[j] = weight[k * d + j] * scale;
                gradient[d] += weight[k * d + j] * mean[j];
            }
            for (int i = 0; i < n; i++) {
                int label = rows.labels()[i];
                double truth = label == k ? 1 : 0;
                double factor = c * classWeights[label] * (softmax(scores[i])[k] - truth);
                double start = c * classWeights[label] * (1.0 / rows.classes() - truth);
                for (int j = 0; j <= d; j++) {
                    double z = j == d ? 1 : (rows.values()[i][j] - mean[j]) / scale;
                    gradient[j] += factor * z;
                    first[j] += start * z;
                }
            }
            double norm = Math.sqrt(Arrays.stream(first).map(g -> g * g).sum());
            assertThat(gradient).as("class " + k).containsOnly(new double[] {0}, within(1e-4 * norm));
        }
    }

    /**
     * Rows −1 and 1 of two classes: m = 0, s = 1, and by symmetry {@code w_1 = −w_0 = w} with {@code w = 2C σ(−2w)}, biases
     * 0. For C = 1, {@code w (1 + e^{2w}) = 2} has the root below.
     */
    @Test
    void twoRowsHaveTheKnownSolution() {
        double root = 0.5;
        for (int i = 0; i < 100; i++) {
            root -= (root * (1 + Math.exp(2 * root)) - 2) / (1 + Math.exp(2 * root) + 2 * root * Math.exp(2 * root));
        }
        SyntheticRows rows = new SyntheticRows(new double[][] {{-1}, {1}}, new int[] {0, 1}, new int[] {0, 1}, 2);
        try (Scope _ = Scope.open()) {
            LinearModel model = rows.fit("logistic:C=1");
            assertThat(model.weight().toDoubles()).containsExactly(new double[] {-root, root}, within(1e-4));
            assertThat(model.bias().toDoubles()).containsExactly(new double[] {0, 0}, within(1e-6));
            assertThat(root).isCloseTo(0.5213, within(1e-4));
        }
    }

    @RandomTest
    void primalAndDualFormsAgree(Seed seed) {
        SyntheticRows rows = SyntheticRows.of(seed.random(), 30, 6, 3, 0.6);
        double[][] padded = Arrays.stream(rows.values())
                .map(row -> Arrays.copyOf(row, 40)) // zeros change no product; longer than many
                .toArray(double[][]::new);
        SyntheticRows longer = new SyntheticRows(padded, rows.labels(), rows.groups(), 3);
        try (Scope _ = Scope.open()) {
            double[][] expected = rows.scores(rows.fit("logistic:C=10"));
            double[][] found = longer.scores(longer.fit("logistic:C=10"));
            for (int i = 0; i < 30; i++) {
                assertThat(found[i]).containsExactly(expected[i], within(2e-3));
            }
        }
    }
}
