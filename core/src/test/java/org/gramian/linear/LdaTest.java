package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.testing.TensorAssert;
import org.junit.jupiter.api.Test;

class LdaTest {
    private static LinearModel solve(LabelledRows rows, double shrinkage) {
        return new Lda(OptionalDouble.of(shrinkage)).fit(rows, SolverListener.NONE);
    }

    /** Two Gaussians of a covariance that is far from round: the rule is known. */
    @Test
    void manyGaussianRowsGiveBayesRule() {
        SplittableRandom random = new SplittableRandom(1);
        int n = 20_000;
        double[][] values = new double[n][2];
        int[] labels = new int[n];
        int[] groups = new int[n];
        for (int i = 0; i < n; i++) {
            labels[i] = i % 4 == 0 ? 1 : 0;
            groups[i] = i;
            double common = random.nextGaussian();
            values[i][0] = (float) (2 * common + random.nextGaussian() + labels[i]);
            values[i][1] = (float) (2 * common + random.nextGaussian());
        }
        // covariance ((5, 4), (4, 5)), its inverse ((5, -4), (-4, 5))/9; means (1, 0) and (0, 0)
        try (Scope _ = Scope.open()) {
            LinearModel model = new Lda(OptionalDouble.empty())
                    .fit(new SyntheticRows(values, labels, groups, 2).rows(), SolverListener.NONE);
            double[] weight = model.weight().toDoubles();
            double[] bias = model.bias().toDoubles();
            assertThat(weight[2] - weight[0]).isCloseTo(5.0 / 9, within(0.03));
            assertThat(weight[3] - weight[1]).isCloseTo(-4.0 / 9, within(0.03));
            assertThat(bias[1] - bias[0]).isCloseTo(-5.0 / 18 + Math.log(1.0 / 3), within(0.05));
            assertThat(model.found().get("shrinkage")).isBetween(0.0, 0.01);
        }
    }

    @RandomTest
    void fullShrinkageIsTheNearestMeanUpToScale(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows = SyntheticRows.of(random, 20, random.nextInt(1, 40), 3);
        try (Scope _ = Scope.open()) {
            LabelledRows given = balanced(rows);
            LinearModel lda = solve(given, 1);
            LinearModel mean = new NearestMean().fit(given, SolverListener.NONE);
            // z = (v·μ − ½‖μ‖²)/ν against (2 v·μ − ‖μ‖²)/(d ν), and the same log π for all
            Tensor scaled = mean.weight().mul(rows.size() / 2.0);
            TensorAssert.assertTensor(lda.weight()).isCloseTo(scaled, 1e-5);
            assertThat(rows.answers(lda)).isEqualTo(rows.answers(mean));
        }
    }

    @RandomTest
    void productsAloneGiveTheScoresOfEveryFold(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows =
                SyntheticRows.of(random, 24, random.nextInt(30, 60), 3).repeated(random.nextInt(1, 3));
        try (Scope _ = Scope.open()) {
            LabelledRows given = rows.rows();
            GroupFolds folds = GroupFolds.of(given);
            CrossValidation expected =
                    CrossValidation.of(given, folds, SolverListener.NONE, new Lda(OptionalDouble.empty()));
            Tensor products = RowProducts.of(given.rows()).products();
            LabelledRows gram = LabelledRows.of(products, rows.labels(), rows.groups(), rows.classes());
            CrossValidation found =
                    Lda.crossValidation(gram, rows.size(), SolverListener.NONE).orElseThrow();
            for (int i = 0; i < given.count(); i++) {
                assertThat(aboutMean(found.logits()[i])).containsExactly(aboutMean(expected.logits()[i]), within(1e-2));
            }
            assertThat(found.correct()).isEqualTo(expected.correct());
        }
    }

    /** Scores are defined up to a number for each row. */
    private static double[] aboutMean(double[] scores) {
        double mean = Arrays.stream(scores).average().orElseThrow();
        return Arrays.stream(scores).map(score -> score - mean).toArray();
    }

    private static LabelledRows balanced(SyntheticRows rows) {
        double[] weights = new double[rows.classes()];
        Arrays.fill(weights, rows.count());
        Arrays.stream(rows.labels()).forEach(label -> weights[label] = 0);
        Arrays.stream(rows.labels()).forEach(label -> weights[label]++);
        return rows.rows()
                .weighted(Arrays.stream(weights).map(count -> 1 / count).toArray());
    }

    /** By the definition, with the d×d matrix. */
    @RandomTest
    void bothFormsAgreeWithTheDefinition(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows = SyntheticRows.of(random, 15, random.nextInt(2, 40), 3);
        double gamma = random.nextDouble(0.05, 0.95);
        try (Scope _ = Scope.open()) {
            LinearModel model = solve(rows.rows(), gamma);
            DenseRows means = means(rows);
            DenseRows covariance = covariance(rows, means);
            int d = rows.size();
            DenseRows shrunk = covariance.scale(1 - gamma).plus(gamma * covariance.trace() / d, DenseRows.identity(d));
            DenseRows directions = shrunk.solve(means.transpose()).transpose(); // [k, d], around 0
            double[] weight = model.weight().toDoubles();
            double largest = directions.largestMagnitude();
            for (int c = 1; c < 3; c++) {
                for (int j = 0; j < d; j++) {
                    assertThat(weight[c * d + j] - weight[j])
                            .isCloseTo(directions.get(c, j) - directions.get(0, j), within(1e-3 * largest));
                }
            }
        }
    }

    private static DenseRows means(SyntheticRows rows) {
        DenseRows means = new DenseRows(rows.classes(), rows.size());
        double[] counts = new double[rows.classes()];
        Arrays.stream(rows.labels()).forEach(label -> counts[label]++);
        for (int i = 0; i < rows.count(); i++) {
            int c = rows.labels()[i];
            for (int j = 0; j < rows.size(); j++) {
                means.set(c, j, means.get(c, j) + rows.values()[i][j] / counts[c]);
            }
        }
        return means;
    }

    private static DenseRows centred(SyntheticRows rows, DenseRows means) {
        DenseRows centred = new DenseRows(rows.count(), rows.size());
        for (int i = 0; i < rows.count(); i++) {
            for (int j = 0; j < rows.size(); j++) {
                centred.set(i, j, rows.values()[i][j] - means.get(rows.labels()[i], j));
            }
        }
        return centred;
    }

    private static DenseRows covariance(SyntheticRows rows, DenseRows means) {
        DenseRows centred = centred(rows, means);
        return centred.transpose().mult(centred).scale(1.0 / rows.count());
    }

    /** Σ_g ‖A_g − n_g S‖² / n² over ‖S − νI‖², literally. */
    @RandomTest
    void theShrinkageIsLedoitAndWolfsOverGroups(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows drawn = SyntheticRows.of(random, 24, random.nextInt(3, 50), 3);
        int[] groups = new int[24];
        Arrays.setAll(groups, i -> random.nextBoolean() ? i : i / 4);
        SyntheticRows rows = new SyntheticRows(drawn.values(), drawn.labels(), groups, 3);
        DenseRows means = means(rows);
        DenseRows centred = centred(rows, means);
        DenseRows covariance = covariance(rows, means);
        double error = 0;
        for (int group : Arrays.stream(groups).distinct().toArray()) {
            DenseRows sum = new DenseRows(rows.size(), rows.size());
            for (int i = 0; i < groups.length; i++) {
                if (groups[i] == group) {
                    DenseRows row = centred.row(i);
                    sum = sum.plus(1, row.transpose().mult(row)).plus(-1, covariance);
                }
            }
            error += Math.pow(sum.norm() / 24, 2);
        }
        double nu = covariance.trace() / rows.size();
        double far =
                Math.pow(covariance.plus(-nu, DenseRows.identity(rows.size())).norm(), 2);
        try (Scope _ = Scope.open()) {
            double found = rows.fit("lda").found().getOrDefault("shrinkage", Double.NaN);
            assertThat(found).isCloseTo(Math.min(1, error / far), within(1e-4));
        }
    }

    @Test
    void singularCovarianceIsRefused() {
        SyntheticRows few = SyntheticRows.of(new SplittableRandom(4), 10, 20, 3);
        try (Scope _ = Scope.open()) {
            LabelledRows rows = few.rows();
            assertThatThrownBy(() -> solve(rows, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .has(facts("10", "rows", "20", "shrinkage", "0"))
                    .hasMessageContaining("lda:shrinkage=0.1");
        }
    }

    @RandomTest
    void sumsOverRowsGiveTheSolutionOfTheRows(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows = SyntheticRows.of(random, 24, random.nextInt(1, 8), 3);
        try (Scope _ = Scope.open()) {
            LabelledRows given = balanced(rows);
            ClassStatistics sums = sums(given);
            for (LinearSolver solver : List.of(new Lda(OptionalDouble.empty()), new NearestMean())) {
                LinearModel expected = solver.fit(given, SolverListener.NONE);
                LinearModel found = solver instanceof Lda lda ? lda.fit(sums) : new NearestMean().fit(sums);
                TensorAssert.assertTensor(found.weight()).isCloseTo(expected.weight(), 1e-4);
                TensorAssert.assertTensor(found.bias()).isCloseTo(expected.bias(), 1e-4);
            }
        }
    }

    /** Sums by the definitions, with every row a group. */
    private static ClassStatistics sums(LabelledRows rows) {
        int n = rows.count();
        int d = (int) rows.size();
        double[] x = rows.rows().toDoubles();
        double[] means = new double[rows.classes() * d];
        for (int i = 0; i < n * d; i++) {
            int label = rows.label(i / d);
            means[label * d + i % d] += x[i] / rows.count(label);
        }
        double[] scatter = new double[d * d];
        double trace = 0;
        double squares = 0;
        for (int i = 0; i < n; i++) {
            double length = 0;
            for (int j = 0; j < d; j++) {
                double left = x[i * d + j] - means[rows.label(i) * d + j];
                length += left * left;
                for (int k = 0; k < d; k++) {
                    scatter[j * d + k] += left * (x[i * d + k] - means[rows.label(i) * d + k]);
                }
            }
            trace += length;
            squares += length * length;
        }
        long[] counts = new long[rows.classes()];
        double[] weights = new double[rows.classes()];
        Arrays.setAll(counts, rows::count);
        Arrays.setAll(weights, rows::weight);
        return new ClassStatistics(counts, weights, means, scatter, trace, squares, 1);
    }
}
