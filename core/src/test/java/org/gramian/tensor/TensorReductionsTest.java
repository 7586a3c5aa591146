package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class TensorReductionsTest {
    /** The sum over some dimensions, in plain loops. */
    private static Grid summed(Grid grid, boolean[] over) {
        long[] sizes = grid.shape().sizes();
        for (int i = 0; i < over.length; i++) {
            sizes[i] = over[i] ? 1 : sizes[i];
        }
        Grid sums = Grid.make(Shape.of(sizes), place -> 0);
        Grid.make(grid.shape(), place -> {
            int[] to = place.clone();
            for (int i = 0; i < over.length; i++) {
                to[i] = over[i] ? 0 : to[i];
            }
            sums.add(grid.at(place), to);
            return 0;
        });
        return sums;
    }

    @RandomTest(times = 24)
    void sumsOverEverySubsetOfDimensionsAreTheirLoops(Seed seed) {
        SplittableRandom random = seed.random();
        int rank = 1 + (int) (seed.value() % 4);
        Tensor x = Tensors.gaussian(random, Grid.randomShape(random, rank), DType.F64);
        x = seed.value() % 3 == 0 ? x.transpose(0, rank - 1) : x;
        Grid grid = Grid.of(x);
        for (int subset = 0; subset < 1 << rank; subset++) {
            int bits = subset;
            int[] dimensions =
                    IntStream.range(0, rank).filter(i -> (bits >> i & 1) == 1).toArray();
            boolean[] over = new boolean[rank];
            Arrays.stream(dimensions).forEach(i -> over[i] = true);
            int[] fromTheEnd = Arrays.stream(dimensions).map(i -> i - rank).toArray();
            assertTensor(x.sum(dimensions))
                    .as("over %s", Arrays.toString(dimensions))
                    .isCloseTo(summed(grid, over), 1e-13);
            assertTensor(x.sum(fromTheEnd))
                    .as("over %s", Arrays.toString(fromTheEnd))
                    .isCloseTo(summed(grid, over), 1e-13);
        }
    }

    @RandomTest
    void sumMeanAndLargestAreTheirLoops(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = Tensors.gaussian(random, Grid.randomShape(random, 1 + random.nextInt(4)), DType.F64);
        double[] values = x.toDoubles();
        double sum = DoubleStream.of(values).sum();
        assertThat(x.sum().item()).isCloseTo(sum, Offset.offset(1e-12));
        assertThat(x.mean().item()).isCloseTo(sum / values.length, Offset.offset(1e-13));
        assertThat(x.largestMagnitude())
                .isEqualTo(DoubleStream.of(values).map(Math::abs).max().orElseThrow());
    }

    @RandomTest
    void largestAlongDimensionIsItsLoop(Seed seed) {
        Tensor x = seed.gaussian(3, 4, 2);
        Grid grid = Grid.of(x);
        Grid expected = Grid.make(
                Shape.of(3, 1, 2),
                place -> IntStream.range(0, 4)
                        .mapToDouble(j -> grid.at(place[0], j, place[2]))
                        .max()
                        .orElseThrow());
        assertTensor(x.max(-2)).isCloseTo(expected, 0);
    }

    @Test
    void singlePrecisionSumsAreAsGoodAsSinglePrecision() {
        Tensor x = Tensors.uniform(new SplittableRandom(4), 0, 1, Shape.of(8, 5000), DType.F32);
        Tensor exact = x.to(DType.F64).sum(1);
        assertTensor(x.sum(1)).isCloseTo(exact, 2e-6);
    }

    @Test
    void oneNumberThatIsNotFiniteIsFound() {
        double[] values = new double[100];
        assertThat(Tensors.of(values, Shape.of(10, 10), DType.F32).allFinite()).isTrue();
        for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            values[57] = bad;
            assertThat(Tensors.of(values, Shape.of(10, 10), DType.F32).allFinite())
                    .isFalse();
        }
    }

    @Test
    void dimensionThatIsNotThereIsRefused() {
        Tensor x = Tensors.zeros(Shape.of(2, 3), DType.F64, Device.CPU);
        assertRejected(IndexOutOfBoundsException.class, () -> x.sum(2));
        assertRejected(IndexOutOfBoundsException.class, () -> x.max(-3));
    }
}
