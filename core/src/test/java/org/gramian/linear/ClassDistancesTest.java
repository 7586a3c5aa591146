package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;

class ClassDistancesTest {
    private static final int ROWS = 60;
    private static final int SIZE = 5;
    private static final int CLASSES = 3;

    private static LabelledRows rows(Tensor rows) {
        int[] labels = IntStream.range(0, ROWS).map(i -> i % CLASSES).toArray();
        return LabelledRows.of(rows, labels, IntStream.range(0, ROWS).toArray(), CLASSES);
    }

    private static Tensor gaussian(SplittableRandom random) {
        Tensor stretch = Tensors.gaussian(random, Shape.of(SIZE, SIZE), DType.F32);
        return Tensors.gaussian(random, Shape.of(ROWS, SIZE), DType.F32).matmul(stretch);
    }

    @RandomTest(times = 8)
    void distanceIsThatOfMahalanobis(Seed seed) {
        try (Scope _ = Scope.open()) {
            Tensor rows = gaussian(seed.random());
            Tensor mean = CentredRows.aroundClassMeans(rows(rows)).centres();
            Tensor matrix = Whitening.fit(
                            List.of(CentredRows.aroundClassMeans(rows(rows)).all()))
                    .matrix();
            Tensor precision = matrix.transpose().matmul(matrix);
            Tensor found = ClassDistances.fit(rows(rows)).of(rows);
            for (int k = 0; k < CLASSES; k++) {
                Tensor away = rows.sub(mean.slice(0, k, k + 1));
                double[] expected =
                        away.matmul(precision).mul(away).sum(1).sqrt().toDoubles();
                assertThat(found.slice(1, k, k + 1).contiguous().toDoubles()).containsExactly(expected, within(1e-3));
            }
        }
    }

    @RandomTest(times = 8)
    void distancesAreInvariantUnderRotation(Seed seed) {
        try (Scope _ = Scope.open()) {
            SplittableRandom random = seed.random();
            Tensor rows = gaussian(random);
            Tensor rotation =
                    Decompositions.orthonormalColumns(Tensors.gaussian(random, Shape.of(SIZE, SIZE), DType.F32), true);
            Tensor rotated = rows.matmul(rotation);
            double[] expected = ClassDistances.fit(rows(rows)).of(rows).toDoubles();
            assertThat(ClassDistances.fit(rows(rotated)).of(rotated).toDoubles())
                    .containsExactly(expected, within(2e-2));
        }
    }

    @RandomTest(times = 4)
    void outOfFoldDistancesAreLargerThanThoseOfTheFit(Seed seed) {
        try (Scope _ = Scope.open()) {
            LabelledRows rows = rows(gaussian(seed.random()));
            double[] fitted = ClassDistances.fit(rows).of(rows.rows()).toDoubles();
            double[][] unseen =
                    ClassDistances.outOfFold(rows, SolverListener.NONE).orElseThrow();
            double ofFit = 0;
            double ofUnseen = 0;
            for (int i = 0; i < ROWS; i++) {
                ofFit += fitted[i * CLASSES + i % CLASSES];
                ofUnseen += unseen[i][i % CLASSES];
            }
            assertThat(ofUnseen).isGreaterThan(ofFit);
        }
    }
}
