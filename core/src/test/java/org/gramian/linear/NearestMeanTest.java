package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.facts;

import java.util.SplittableRandom;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class NearestMeanTest {
    @RandomTest
    void scoresAreDistancesToTheMeans(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows = SyntheticRows.of(random, 20, random.nextInt(1, 30), 4);
        try (Scope _ = Scope.open()) {
            double[][] scores = rows.scores(new NearestMean().fit(rows.rows(), SolverListener.NONE));
            double[][] distances = distances(rows);
            double unit = 0;
            for (int i = 0; i < rows.count(); i++) {
                unit += distances[i][rows.labels()[i]] / rows.count();
            }
            for (int i = 0; i < rows.count(); i++) {
                for (int c = 1; c < 4; c++) {
                    double expected = (distances[i][0] - distances[i][c]) / unit;
                    assertThat(scores[i][c] - scores[i][0])
                            .isCloseTo(expected, within(1e-4 * (1 + Math.abs(expected))));
                }
            }
        }
    }

    /** Squared, of each row to each mean. */
    private static double[][] distances(SyntheticRows rows) {
        double[][] means = new double[rows.classes()][rows.size()];
        int[] counts = new int[rows.classes()];
        for (int i = 0; i < rows.count(); i++) {
            counts[rows.labels()[i]]++;
            for (int j = 0; j < rows.size(); j++) {
                means[rows.labels()[i]][j] += rows.values()[i][j];
            }
        }
        double[][] distances = new double[rows.count()][rows.classes()];
        for (int i = 0; i < rows.count(); i++) {
            for (int c = 0; c < rows.classes(); c++) {
                for (int j = 0; j < rows.size(); j++) {
                    double off = rows.values()[i][j] - means[c][j] / counts[c];
                    distances[i][c] += off * off;
                }
            }
        }
        return distances;
    }

    @Test
    void oneRowOfEachClassIsEnough() {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(4), 3, 5, 3);
        try (Scope _ = Scope.open()) {
            assertThat(rows.answers(new NearestMean().fit(rows.rows(), SolverListener.NONE)))
                    .containsExactly(0, 1, 2);
        }
    }

    @Test
    void invalidRowsAreRefused() {
        try (Scope _ = Scope.open()) {
            Tensor rows = Tensors.zeros(Shape.of(3, 2), DType.F32, Device.CPU);
            int[] three = {0, 1, 2};
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[] {0, 0, 2}, three, 3))
                    .has(facts("class", "1"));
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[] {0, 1, 3}, three, 3))
                    .has(facts("0", "2", "3"));
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[] {0, 1}, three, 2))
                    .has(facts("3", "rows"));
            assertThatThrownBy(() -> LabelledRows.of(rows, new int[3], three, 1))
                    .has(facts("2", "classes"));
            Tensor wide = Tensors.zeros(Shape.of(3, 2), DType.F64, Device.CPU);
            assertThatThrownBy(() -> LabelledRows.of(wide, three, three, 3)).has(facts("[n, d]", "F64[3, 2]"));
            Tensor endless = Tensors.full(Double.NaN, Shape.of(3, 2), DType.F32, Device.CPU);
            assertThatThrownBy(() -> LabelledRows.of(endless, three, three, 3)).hasMessageContaining("finite");
            LabelledRows right = LabelledRows.of(rows, three, three, 3);
            assertThatThrownBy(() -> right.weighted(new double[] {1, 0, 1})).has(facts("positive", "weight"));
        }
    }
}
