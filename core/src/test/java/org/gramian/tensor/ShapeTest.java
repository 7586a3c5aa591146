package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.SplittableRandom;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class ShapeTest {
    @RandomTest
    void numberOfElementsIsProductOfSizes(Seed seed) {
        SplittableRandom random = seed.random();
        long[] sizes = random.longs(random.nextInt(6), 0, 9).toArray();
        long product = 1;
        for (long size : sizes) {
            product *= size;
        }
        Shape shape = Shape.of(sizes);
        assertThat(shape.elements()).isEqualTo(product);
        assertThat(shape.rank()).isEqualTo(sizes.length);
        assertThat(shape).isEqualTo(Shape.of(sizes.clone())).hasSameHashCodeAs(Shape.of(sizes.clone()));
        for (int i = 0; i < sizes.length; i++) {
            assertThat(shape.at(i)).isEqualTo(sizes[i]).isEqualTo(shape.at(i - sizes.length));
            assertThat(shape.with(i, 77).at(i)).isEqualTo(77);
        }
    }

    @Test
    void shapeDoesNotChangeWithArrayItWasMadeOf() {
        long[] sizes = {2, 3};
        Shape shape = Shape.of(sizes);
        sizes[0] = 9;
        shape.sizes()[1] = 9;
        assertThat(shape).isEqualTo(Shape.of(2, 3)).hasToString("[2, 3]").isNotEqualTo(Shape.of(3, 2));
    }

    @Test
    void negativeAndOverflowingSizesAreRefused() {
        assertRejected(() -> Shape.of(2, -1), "[2, -1]");
        assertRejected(() -> Shape.of(Long.MAX_VALUE, 2), "2^63-1");
        assertThat(Shape.of(Long.MAX_VALUE, 0).elements()).isZero();
    }

    @Test
    void dimensionThatIsNotThereIsNamedWithShape() {
        assertRejected(IndexOutOfBoundsException.class, () -> Shape.of(4, 5).at(2), "dimension 2", "[4, 5]");
        assertRejected(IndexOutOfBoundsException.class, () -> Shape.of(4, 5).at(-3));
    }

    @Test
    void unknownTypeCodeIsRefused() {
        assertRejected(() -> DType.ofCode(99), "99", "BF16");
    }
}
