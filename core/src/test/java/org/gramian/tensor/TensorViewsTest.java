package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class TensorViewsTest {
    private static Tensor random(SplittableRandom random, int rank) {
        return Tensors.gaussian(random, Grid.randomShape(random, rank), DType.F64);
    }

    @RandomTest
    void transposingExchangesTwoPlaces(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 1 + random.nextInt(4));
        Grid grid = Grid.of(x);
        int rank = x.shape().rank();
        int i = random.nextInt(rank);
        int j = random.nextInt(rank);
        Shape swapped = x.shape().with(i, x.size(j)).with(j, x.size(i));
        Grid expected = Grid.make(swapped, place -> {
            int[] from = place.clone();
            from[i] = place[j];
            from[j] = place[i];
            return grid.at(from);
        });
        assertTensor(x.transpose(i, j - rank)).isCloseTo(expected, 0);
        assertTensor(x.transpose(i, j).contiguous()).isCloseTo(expected, 0);
    }

    @RandomTest
    void reshapingKeepsElementsRowByRowEvenOfTransposedTensor(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 3).transpose(random.nextInt(3), random.nextInt(3));
        Tensor flat = x.reshape(x.shape().elements());
        assertThat(flat.toDoubles()).containsExactly(x.toDoubles());
        Tensor folded = x.reshape(x.size(2), 1, x.size(0) * x.size(1));
        assertThat(folded.toDoubles()).containsExactly(x.toDoubles());
        assertThat(folded.shape()).isEqualTo(Shape.of(x.size(2), 1, x.size(0) * x.size(1)));
    }

    @RandomTest
    void sliceIsElementsBetweenTwoPlaces(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 3).transpose(0, random.nextInt(3));
        Grid grid = Grid.of(x);
        int along = random.nextInt(3);
        int start = random.nextInt((int) x.size(along) + 1);
        int end = start + random.nextInt((int) x.size(along) - start + 1);
        Grid expected = Grid.make(x.shape().with(along, end - start), place -> {
            int[] from = place.clone();
            from[along] += start;
            return grid.at(from);
        });
        assertTensor(x.slice(along - 3, start, end)).isCloseTo(expected, 0);
    }

    @RandomTest
    void expandingRepeatsDimensionsOfSizeOne(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 3);
        int along = random.nextInt(3);
        Tensor thin = x.slice(along, 0, 1);
        Grid grid = Grid.of(thin);
        Shape wide = thin.shape().with(along, 1 + random.nextInt(5));
        assertTensor(thin.expand(wide.sizes())).isCloseTo(Grid.make(wide, grid::broadcastAt), 0);
    }

    @RandomTest
    void diagonalIsElementsWithEqualPlaces(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 2 + random.nextInt(2));
        int rank = x.shape().rank();
        Grid grid = Grid.of(x);
        Shape shape = Shape.of(rank == 2 ? new long[] {1} : new long[] {x.size(0), 1})
                .with(-1, Math.min(x.size(-1), x.size(-2)));
        Grid expected = Grid.make(
                shape, place -> rank == 2 ? grid.at(place[0], place[0]) : grid.at(place[0], place[1], place[1]));
        assertTensor(x.diagonal()).isCloseTo(expected, 0);
    }

    @RandomTest
    void writingToViewChangesWhatItLooksAt(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 2);
        Grid grid = Grid.of(x);
        x.diagonal().fill(5);
        x.slice(1, 0, 1).fill(6);
        assertTensor(x)
                .isCloseTo(
                        Grid.make(x.shape(), place -> place[1] == 0 ? 6 : place[0] == place[1] ? 5 : grid.at(place)),
                        0);
    }

    @RandomTest
    void joiningPutsTensorsOneAfterOther(Seed seed) {
        SplittableRandom random = seed.random();
        Shape shape = Grid.randomShape(random, 3);
        int along = random.nextInt(3);
        List<Tensor> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            Tensor part = Tensors.gaussian(random, shape.with(along, 1 + random.nextInt(3)), DType.F64);
            parts.add(part);
        }
        Tensor joined = Tensors.concat(parts, along - 3);
        long start = 0;
        for (Tensor part : parts) {
            long end = start + part.size(along);
            assertTensor(joined.slice(along, start, end)).isCloseTo(part, 0);
            start = end;
        }
        assertThat(joined.size(along)).isEqualTo(start);
    }

    @RandomTest
    void selectingAndPuttingAreInverse(Seed seed) {
        SplittableRandom random = seed.random();
        Tensor x = random(random, 3);
        Grid grid = Grid.of(x);
        int along = random.nextInt(3);
        int size = (int) x.size(along);
        long[] order = random.longs(1 + random.nextInt(6), 0, size).toArray();
        Tensor selected = x.select(along, Tensors.ofLongs(order, Shape.of(order.length)));
        Grid expected = Grid.make(x.shape().with(along, order.length), place -> {
            int[] from = place.clone();
            from[along] = (int) order[place[along]];
            return grid.at(from);
        });
        assertTensor(selected).isCloseTo(expected, 0);
        long[] reversed = new long[size];
        for (int i = 0; i < size; i++) {
            reversed[i] = size - 1L - i;
        }
        Tensor places = Tensors.ofLongs(reversed, Shape.of(size));
        Tensor target = Tensors.zeros(x.shape(), DType.F64, Device.CPU);
        target.put(along, places, x.select(along, places));
        assertTensor(target).isCloseTo(x, 0);
    }

    @Test
    void viewsThatDoNotFitAreRefusedWithShape() {
        Tensor x = Tensors.zeros(Shape.of(2, 3), DType.F32, Device.CPU);
        Tensor y = Tensors.zeros(Shape.of(3, 3), DType.F32, Device.CPU);
        Tensor doubles = Tensors.zeros(Shape.of(2, 3), DType.F64, Device.CPU);
        assertRejected(() -> x.reshape(7), "reshape", "F32[2, 3]", "[7]");
        assertRejected(() -> x.slice(1, 2, 4), "slice", "2", "4", "1", "F32[2, 3]");
        assertRejected(() -> x.slice(1, 2, 1));
        assertRejected(() -> x.expand(4, 3), "expand", "F32[2, 3]", "[4, 3]");
        assertThatThrownBy(() -> x.expand(1, 2, 3)).hasMessageContaining("[1, 2, 3]");
        assertRejected(IndexOutOfBoundsException.class, () -> x.transpose(0, 2));
        assertRejected(() -> Tensors.concat(List.of(x, y), 1), "concat", "F32[2, 3]", "F32[3, 3]");
        assertThatThrownBy(() -> Tensors.concat(List.of(x, doubles), 1)).has(facts("concat", "F32", "F64"));
        assertThatThrownBy(() -> Tensors.concat(List.of(), 0)).has(facts("concat", "tensor"));
        assertThatThrownBy(() -> x.put(0, Tensors.ofLongs(new long[] {0}, Shape.of(1)), doubles))
                .has(facts("put", "F32[2, 3]", "F64[2, 3]"));
    }
}
