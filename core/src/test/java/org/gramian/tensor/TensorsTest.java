package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;
import static org.gramian.testing.TensorAssert.assertTensor;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import org.gramian.testing.Grid;
import org.gramian.testing.LeakFree;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ExtendWith(LeakFree.class)
class TensorsTest {
    /** The number that a type makes of a double, in plain Java. */
    private static double rounded(double value, DType type) {
        return switch (type) {
            case F64 -> value;
            case F32 -> (float) value;
            case F16 -> Float.float16ToFloat(Float.floatToFloat16((float) value));
            case BF16 -> {
                int bits = Float.floatToRawIntBits((float) value);
                yield Float.intBitsToFloat((bits + 0x7fff + (bits >>> 16 & 1)) & 0xffff0000);
            }
            case I64, I32, U8 -> (long) value;
            case BOOL -> value != 0 ? 1 : 0;
        };
    }

    private static double[] samples(SplittableRandom random, DType type) {
        return random.doubles(40, type.isFloating() ? -100 : 0, 100).toArray();
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void numbersComeBackAsTypeHoldsThem(DType type) {
        double[] values = samples(new SplittableRandom(3), type);
        double[] expected = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            expected[i] = rounded(values[i], type);
        }
        try (Scope _ = Scope.open()) {
            Tensor tensor = Tensors.of(values, Shape.of(4, 10), type);
            assertThat(tensor.type()).isEqualTo(type);
            assertThat(tensor).hasToString(type + "[4, 10]");
            assertThat(tensor.toDoubles()).containsExactly(expected);
            assertThat(tensor.toBytes()).hasSize(40 * type.bytes());
            for (int i = 0; i < expected.length; i++) {
                assertThat(tensor.toFloats()[i]).isEqualTo((float) expected[i]);
                assertThat(tensor.toLongs()[i]).isEqualTo((long) expected[i]);
            }
        }
    }

    @Test
    void halvesAreRoundedToNearestEvenNeighbour() {
        try (Scope _ = Scope.open()) {
            double[] ties = {1 + 0x1p-8, 1 + 3 * 0x1p-8, 256 + 1, 65519, 65520};
            assertThat(Tensors.of(ties, Shape.of(5), DType.BF16).toDoubles())
                    .containsExactly(1, 1 + 4 * 0x1p-8, 256, 65536, 65536);
            double[] halves = {1 + 0x1p-11, 1 + 3 * 0x1p-11, 2049, 65519, 65520};
            assertThat(Tensors.of(halves, Shape.of(5), DType.F16).toDoubles())
                    .containsExactly(1, 1 + 4 * 0x1p-11, 2048, 65504, Double.POSITIVE_INFINITY);
        }
    }

    @RandomTest
    void viewOfMemoryIsThatMemory(Seed seed) {
        SplittableRandom random = seed.random();
        Shape shape = Grid.randomShape(random, 1 + random.nextInt(3));
        try (Arena arena = Arena.ofConfined();
                Scope _ = Scope.open()) {
            MemorySegment memory = arena.allocate(JAVA_DOUBLE, shape.elements());
            Tensor view = Tensors.viewOf(memory, DType.F64, shape);
            long place = random.nextLong(shape.elements());
            memory.setAtIndex(JAVA_DOUBLE, place, 42);
            assertThat(view.toDoubles()[(int) place]).isEqualTo(42);
            view.mulInPlace(2);
            assertThat(memory.getAtIndex(JAVA_DOUBLE, place)).isEqualTo(84);
            assertThat(view.data().address()).isEqualTo(memory.address());
            Tensor copy = Tensors.copyOf(memory, DType.F64, shape);
            memory.setAtIndex(JAVA_DOUBLE, place, 1);
            assertThat(copy.toDoubles()[(int) place]).isEqualTo(84);
        }
    }

    @Test
    void memoryThatDoesNotFitIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(32, 16);
            assertRejected(() -> Tensors.viewOf(memory, DType.F64, Shape.of(3)), "F64[3]", "24", "32");
            assertThatThrownBy(() -> Tensors.copyOf(memory, DType.F32, Shape.of(9)))
                    .has(facts("36", "bytes", "32"));
            assertRejected(() -> Tensors.viewOf(memory.asSlice(4, 8), DType.F64, Shape.of(1)), "8", "bytes");
            MemorySegment heap = MemorySegment.ofArray(new float[2]);
            assertRejected(() -> Tensors.viewOf(heap, DType.F32, Shape.of(2)), "memory");
            try (Tensor copy = Tensors.copyOf(heap, DType.F32, Shape.of(2))) {
                assertThat(copy.data().toArray(JAVA_FLOAT)).containsExactly(0, 0);
            }
        }
    }

    @Test
    void wrongNumberOfElementsIsRefused() {
        assertRejected(() -> Tensors.of(new double[5], Shape.of(2, 3), DType.F32), "[2, 3]", "6", "5");
        assertThatThrownBy(() -> Tensors.ofLongs(new long[5], Shape.of(2, 3))).has(facts("[2, 3]", "6", "5"));
    }

    @RandomTest
    void sameSeedGivesSameBytes(Seed seed) {
        try (Scope _ = Scope.open()) {
            Tensor first = Tensors.gaussian(seed.random(), Shape.of(3, 5), DType.F32);
            assertTensor(Tensors.gaussian(seed.random(), Shape.of(3, 5), DType.F32))
                    .isIdenticalTo(first);
            assertTensor(Tensors.uniform(seed.random(), -2, 3, Shape.of(7), DType.F64))
                    .isIdenticalTo(Tensors.uniform(seed.random(), -2, 3, Shape.of(7), DType.F64));
            Tensor other = Tensors.gaussian(new SplittableRandom(seed.value() + 1), Shape.of(3, 5), DType.F32);
            assertThat(other.toBytes()).isNotEqualTo(first.toBytes());
        }
    }

    @Test
    void gaussianAndUniformNumbersHaveTheirMoments() {
        try (Scope _ = Scope.open()) {
            Tensor normal = Tensors.gaussian(new SplittableRandom(1), Shape.of(20_000), DType.F64);
            assertThat(normal.mean().item()).isBetween(-0.03, 0.03);
            assertThat(normal.mul(normal).mean().item()).isBetween(0.96, 1.04);
            double[] uniform = Tensors.uniform(new SplittableRandom(1), -2, 3, Shape.of(5000), DType.F64)
                    .toDoubles();
            assertThat(DoubleStream.of(uniform)).allMatch(x -> x >= -2 && x < 3);
        }
    }

    @Test
    void itemWantsOneElementAndCopySameShape() {
        try (Scope _ = Scope.open()) {
            Tensor pair = Tensors.zeros(Shape.of(2), DType.F32, Device.CPU);
            Tensor triple = Tensors.zeros(Shape.of(3), DType.F32, Device.CPU);
            assertRejected(pair::item, "F32[2]");
            assertRejected(() -> pair.copyFrom(triple), "copy", "F32[2]", "F32[3]");
            assertRejected(
                    IllegalStateException.class,
                    () -> Tensors.zeros(Shape.of(2, 3), DType.F32, Device.CPU)
                            .transpose()
                            .data(),
                    "contiguous");
        }
    }
}
