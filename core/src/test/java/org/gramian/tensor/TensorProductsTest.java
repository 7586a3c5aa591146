package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.util.SplittableRandom;
import org.gramian.testing.Grid;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Scoped;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Scoped.class)
class TensorProductsTest {
    /** Sizes of two batches that can be multiplied. */
    private record Sizes(int n, int a, int b, int c) {
        static Sizes of(SplittableRandom random) {
            return new Sizes(
                    1 + random.nextInt(4), 1 + random.nextInt(5), 1 + random.nextInt(5), 1 + random.nextInt(5));
        }
    }

    private static double product(Grid left, Grid right, int size, int... place) {
        double sum = 0;
        for (int k = 0; k < size; k++) {
            sum += left.broadcastAt(place[0], place[1], k) * right.broadcastAt(place[0], k, place[2]);
        }
        return sum;
    }

    @RandomTest
    void productsOfMatricesAndBatchesAreTheirLoops(Seed seed) {
        SplittableRandom random = seed.random();
        Sizes s = Sizes.of(random);
        Tensor a = Tensors.gaussian(random, Shape.of(s.n, s.a, s.b), DType.F64);
        Tensor b = Tensors.gaussian(random, Shape.of(s.n, s.c, s.b), DType.F64).transpose();
        Tensor firstA = a.slice(0, 0, 1).reshape(s.a, s.b);
        Tensor firstB = b.slice(0, 0, 1).reshape(s.b, s.c);
        Shape shape = Shape.of(s.n, s.a, s.c);
        for (Tensor left : new Tensor[] {a, firstA}) {
            for (Tensor right : new Tensor[] {b, firstB}) {
                Grid l = Grid.of(left);
                Grid r = Grid.of(right);
                boolean single = left == firstA && right == firstB;
                Grid expected = Grid.make(
                        single ? Shape.of(s.a, s.c) : shape,
                        place -> single ? product(l, r, s.b, 0, place[0], place[1]) : product(l, r, s.b, place));
                assertTensor(left.matmul(right)).as("%s times %s", left, right).isCloseTo(expected, 1e-14);
            }
        }
    }

    @RandomTest
    void sumOfProductsIsItsLoop(Seed seed) {
        SplittableRandom random = seed.random();
        Sizes s = Sizes.of(random);
        Tensor a = Tensors.gaussian(random, Shape.of(s.n, s.b, s.a), DType.F64).transpose();
        Tensor b = Tensors.gaussian(random, Shape.of(s.n, s.b, s.c), DType.F64);
        Grid l = Grid.of(a);
        Grid r = Grid.of(b);
        Grid expected = Grid.make(Shape.of(s.a, s.c), place -> {
            double sum = 0;
            for (int n = 0; n < s.n; n++) {
                sum += product(l, r, s.b, n, place[0], place[1]);
            }
            return sum;
        });
        assertTensor(a.sumOfProducts(b)).isCloseTo(expected, 1e-13);
    }

    @RandomTest
    void addingProductsKeepsShareOfTarget(Seed seed) {
        SplittableRandom random = seed.random();
        Sizes s = Sizes.of(random);
        Tensor a = Tensors.gaussian(random, Shape.of(s.n, s.a, s.b), DType.F64);
        Tensor b = Tensors.gaussian(random, Shape.of(s.n, s.b, s.c), DType.F64);
        Tensor target = Tensors.gaussian(random, Shape.of(s.n, s.a, s.c), DType.F64);
        Grid before = Grid.of(target);
        Grid l = Grid.of(a);
        Grid r = Grid.of(b);
        Grid expected = Grid.make(target.shape(), place -> 0.3 * before.at(place) - 1.7 * product(l, r, s.b, place));
        assertThat(target.addProducts(0.3, -1.7, a, b)).isSameAs(target);
        assertTensor(target).isCloseTo(expected, 1e-13);
    }

    @Test
    void targetThatIsNotKeptMayHoldAnything() {
        Tensor target = Tensors.full(Double.NaN, Shape.of(1, 1, 1), DType.F64, Device.CPU);
        Tensor two = Tensors.full(2, Shape.of(1, 1, 1), DType.F64, Device.CPU);
        assertThat(target.addProducts(0, 1, two, two).item()).isEqualTo(4);
    }
}
