package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.linear.LeaveOneOut.Gram;
import org.gramian.tensor.DType;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.junit.jupiter.api.Test;

final class LeaveOneOutTest {
    private static final int ROWS = 24;
    private static final int SIZE = 6;
    private static final int CLASSES = 3;

    private static int[] labels() {
        return IntStream.range(0, ROWS).map(i -> i % CLASSES).toArray();
    }

    /** Overlapping classes, so that some rows are wrong. */
    private static double[][] rows() {
        SplittableRandom random = new SplittableRandom(5);
        double[][] rows = new double[ROWS][SIZE];
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < SIZE; j++) {
                rows[i][j] = random.nextGaussian() + (j == i % CLASSES ? 1.5 : 0);
            }
        }
        return rows;
    }

    private static Tensor tensor(double[][] rows) {
        return Tensors.of(
                Arrays.stream(rows).flatMapToDouble(Arrays::stream).toArray(),
                Shape.of(rows.length, rows[0].length),
                DType.F32);
    }

    private static Gram gram(double[][] rows) {
        return LeaveOneOut.gram(LabelledRows.of(tensor(rows), labels(), alone(), CLASSES));
    }

    /** Every row a group of its own. */
    private static int[] alone() {
        return IntStream.range(0, ROWS).toArray();
    }

    @Test
    void equalsTrainingWithoutEachRow() {
        requireTrainingWithout(alone());
    }

    @Test
    void equalsTrainingWithoutEachGroup() {
        requireTrainingWithout(IntStream.range(0, ROWS).map(i -> i / 2).toArray()); // of two classes
        requireTrainingWithout(
                IntStream.range(0, ROWS).map(i -> i < 6 ? i % 3 : 100 - i).toArray());
    }

    private static void requireTrainingWithout(int[] groups) {
        try (Scope _ = Scope.open()) {
            Gram gram = gram(rows());
            LeaveOneOut found = LeaveOneOut.of(gram.products(), labels(), groups, CLASSES);
            double[] kernel = gram.products().to(DType.F64).add(1.0).toDoubles();
            boolean[] expected = new boolean[ROWS];
            for (int left = 0; left < ROWS; left++) {
                expected[left] = predictWithout(groups, left, kernel, found.lambda()) == labels()[left];
            }
            assertThat(found.correct()).isEqualTo(expected);
            assertThat(found.accuracy()).isBetween(0.4, 0.95);
        }
    }

    /** The two rows of a pair are alike and of a random class: only the other row predicts it. */
    @Test
    void nearDuplicatesDoNotPredictOneAnother() {
        SplittableRandom random = new SplittableRandom(7);
        double[][] pairs = new double[ROWS][40];
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < 40; j++) {
                pairs[i][j] = i % 2 == 0 ? random.nextGaussian() : pairs[i - 1][j] + 0.01 * random.nextGaussian();
            }
        }
        int[] labels = IntStream.range(0, ROWS).map(i -> i / 2 % CLASSES).toArray();
        int[] groups = IntStream.range(0, ROWS).map(i -> i / 2).toArray();
        try (Scope _ = Scope.open()) {
            Tensor products = LeaveOneOut.gram(LabelledRows.of(tensor(pairs), labels, alone(), CLASSES))
                    .products();
            assertThat(LeaveOneOut.of(products, labels, alone(), CLASSES).accuracy())
                    .isGreaterThan(0.9);
            assertThat(LeaveOneOut.of(products, labels, groups, CLASSES).accuracy())
                    .isLessThan(0.6);
        }
    }

    /** Kernel ridge regression on all rows outside the group of one, by elimination. */
    private static int predictWithout(int[] groups, int left, double[] kernel, double lambda) {
        int[] others =
                IntStream.range(0, ROWS).filter(i -> groups[i] != groups[left]).toArray();
        int n = others.length;
        double[][] system = new double[n][n + CLASSES];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                system[i][j] = kernel[others[i] * ROWS + others[j]] + (i == j ? lambda : 0);
            }
            for (int c = 0; c < CLASSES; c++) {
                system[i][n + c] = labels()[others[i]] == c ? 1 : -1;
            }
        }
        for (int pivot = 0; pivot < n; pivot++) {
            for (int row = 0; row < n; row++) {
                if (row != pivot) {
                    double factor = system[row][pivot] / system[pivot][pivot];
                    for (int j = pivot; j < n + CLASSES; j++) {
                        system[row][j] -= factor * system[pivot][j];
                    }
                }
            }
        }
        double[] scores = new double[CLASSES];
        for (int c = 0; c < CLASSES; c++) {
            for (int i = 0; i < n; i++) {
                scores[c] += kernel[left * ROWS + others[i]] * system[i][n + c] / system[i][i];
            }
        }
        return IntStream.range(0, CLASSES)
                .reduce((a, b) -> scores[b] > scores[a] ? b : a)
                .getAsInt();
    }

    @Test
    void gramOfJoinedRowsIsTheSum() {
        double[][] rows = rows();
        double[][] first = Arrays.stream(rows).map(row -> Arrays.copyOf(row, 2)).toArray(double[][]::new);
        double[][] rest =
                Arrays.stream(rows).map(row -> Arrays.copyOfRange(row, 2, SIZE)).toArray(double[][]::new);
        try (Scope _ = Scope.open()) {
            Gram whole = gram(rows);
            Gram a = gram(first);
            Gram b = gram(rest);
            Tensor sum = a.products().mul(a.meanSquare()).add(b.products().mul(b.meanSquare()));
            double[] expected = whole.products().mul(whole.meanSquare()).toDoubles();
            double[] found = sum.toDoubles();
            IntStream.range(0, expected.length)
                    .forEach(i -> assertThat(found[i]).isCloseTo(expected[i], within(1e-4)));
            double diagonal = Arrays.stream(
                            whole.products().diagonal().contiguous().toDoubles())
                    .sum();
            assertThat(diagonal / ROWS).isCloseTo(1, within(1e-5));
        }
    }

    @Test
    void equalRowsAreChance() {
        double[][] same = new double[ROWS][SIZE];
        try (Scope _ = Scope.open()) {
            assertThat(LeaveOneOut.of(gram(same).products(), labels(), alone(), CLASSES)
                            .accuracy())
                    .isLessThan(0.5);
        }
    }

    @Test
    void refusesProductsOfOtherRows() {
        try (Scope _ = Scope.open()) {
            Tensor products = tensor(rows()).matmul(tensor(rows()).transpose());
            assertThatThrownBy(() -> LeaveOneOut.of(products, new int[3], new int[3], CLASSES))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("[3, 3]");
            assertThatThrownBy(() -> LeaveOneOut.of(products, labels(), new int[3], CLASSES))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(ROWS + " groups");
        }
    }
}
