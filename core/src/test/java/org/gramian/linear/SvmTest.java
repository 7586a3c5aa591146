package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.gramian.linear.LinearSolver.SolverListener;
import org.gramian.linear.Svm.OneAgainstRest;
import org.gramian.tensor.Scope;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SvmTest {
    private static LinearModel solve(SyntheticRows rows, double c) {
        return rows.fit("svm:C=" + c);
    }

    private static double drawnCost(SplittableRandom random) {
        return Math.pow(10, random.nextInt(-2, 3));
    }

    @RandomTest
    void theDualityGapCloses(Seed seed) {
        SplittableRandom random = seed.random();
        SyntheticRows rows =
                SyntheticRows.of(random, random.nextInt(5, 60), random.nextInt(1, 80), random.nextInt(2, 5), 0.3);
        try (Scope _ = Scope.open()) {
            assertThat(solve(rows, drawnCost(random)).found().get("gap")).isBetween(-1e-6, 1e-3);
        }
    }

    /** Both forms: few long rows, and many short ones. */
    @ParameterizedTest
    @ValueSource(ints = {3, 40})
    void optimumMatchesAnIndependentSolver(int size) {
        for (int seed = 0; seed < 6; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            SyntheticRows rows = SyntheticRows.of(random, 25, size, 3, 0.5);
            double c = drawnCost(random);
            double[] costs = new double[rows.count()];
            Arrays.fill(costs, c);
            try (Scope _ = Scope.open()) {
                assertOptimal(rows, solve(rows, c), costs);
            }
        }
    }

    private static void assertOptimal(SyntheticRows rows, LinearModel model, double[] costs) {
        double[][] found = rows.scores(model);
        for (int c = 0; c < rows.classes(); c++) {
            DenseRows expected = new NewtonSvm(rows, c, costs).scores();
            double largest = expected.largestMagnitude();
            for (int i = 0; i < rows.count(); i++) {
                assertThat(found[i][c]).as("row " + i).isCloseTo(expected.get(i, 0), within(0.005 * largest));
            }
        }
    }

    @Test
    void classWeightsAreFactorsOnC() {
        SyntheticRows rows = SyntheticRows.of(new SplittableRandom(1), 25, 4, 3, 0.5);
        double[] weights = {0.2, 1, 5};
        double[] costs = Arrays.stream(rows.labels())
                .mapToDouble(label -> weights[label])
                .toArray();
        try (Scope _ = Scope.open()) {
            LinearModel model = new Svm(OptionalDouble.of(1)).fit(rows.rows().weighted(weights), SolverListener.NONE);
            assertOptimal(rows, model, costs);
        }
    }

    @RandomTest
    void scaleAndOffsetOfRowsHardlyMatter(Seed seed) {
        SyntheticRows rows = SyntheticRows.of(seed.random(), 40, 6, 3);
        SyntheticRows moved = rows.moved(8, -16);
        try (Scope _ = Scope.open()) {
            double[][] expected = rows.scores(solve(rows, 1));
            double[][] found = moved.scores(solve(moved, 1));
            for (int i = 0; i < rows.count(); i++) {
                assertThat(found[i]).as("row " + i).containsExactly(expected[i], within(0.005));
            }
        }
    }

    @Test
    void failureIsThrownAfterAllProblemsHaveEnded() {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch two = new CountDownLatch(2);
        try (Scope _ = Scope.open()) {
            LabelledRows rows =
                    SyntheticRows.of(new SplittableRandom(1), 12, 3, 3, 0.5).rows();
            assertThatThrownBy(() -> new OneAgainstRest(rows, DualDescent.ScaledRows.of(rows), SolverListener.NONE)
                            .all("trying", 1000, (_, _) -> {
                                running.incrementAndGet();
                                boolean first = begun.incrementAndGet() == 1;
                                two.countDown();
                                try {
                                    if (first) {
                                        two.await(1, TimeUnit.SECONDS); // in vain where there is one processor
                                        throw new IllegalStateException("broken");
                                    }
                                    Thread.sleep(200);
                                } catch (InterruptedException e) {
                                    throw new IllegalStateException(e);
                                } finally {
                                    running.decrementAndGet();
                                }
                            }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("broken");
            assertThat(running).hasValue(0);
            assertThat(begun.get()).as("the rest is not begun").isLessThan(1000);
        }
    }
}
