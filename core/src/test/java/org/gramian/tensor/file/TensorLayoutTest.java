package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.gramian.tensor.DType;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class TensorLayoutTest {
    private static final List<DType> TYPES = List.of(DType.values());

    @RandomTest(times = 60)
    void takesEveryElementFromWhereItLies(Seed seed) {
        Random random = new Random(seed.value());
        DType type = TYPES.get(random.nextInt(TYPES.size()));
        int rank = random.nextInt(5);
        List<Integer> order = new ArrayList<>();
        List<Long> sizes = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            order.add(i);
            sizes.add((long) random.nextInt(1, random.nextInt(10) == 0 ? 40 : 5));
        }
        Collections.shuffle(order, random);
        List<Long> strides = new ArrayList<>(Collections.nCopies(rank, 0L));
        long step = random.nextInt(1, 3);
        for (int dimension : order) {
            strides.set(dimension, step);
            step *= sizes.get(dimension);
        }
        TensorLayout layout = new TensorLayout(random.nextInt(4), sizes, strides);
        byte[] memory = new byte[Math.toIntExact(layout.end() * type.bytes())];
        random.nextBytes(memory);
        try (Arena arena = Arena.ofConfined()) {
            StoredTensor taken = layout.take(type, MemorySegment.ofArray(memory), arena);
            assertThat(taken.data().mismatch(oneByOne(layout, type, memory))).isEqualTo(-1);
        }
    }

    private static MemorySegment oneByOne(TensorLayout layout, DType type, byte[] memory) {
        int elements = Math.toIntExact(layout.shape().elements());
        byte[] expected = new byte[elements * type.bytes()];
        for (int i = 0; i < elements; i++) {
            long rest = i;
            long from = layout.offset();
            for (int d = layout.sizes().size() - 1; d >= 0; d--) {
                from += rest % layout.sizes().get(d) * layout.strides().get(d);
                rest /= layout.sizes().get(d);
            }
            System.arraycopy(memory, Math.toIntExact(from * type.bytes()), expected, i * type.bytes(), type.bytes());
        }
        return MemorySegment.ofArray(expected);
    }

    @Test
    void whatLiesInRowMajorOrderIsNotCopied() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(24);
            StoredTensor taken = new TensorLayout(2, List.of(2L, 2L), List.of(2L, 1L)).take(DType.F32, memory, arena);
            assertThat(taken.data().address()).isEqualTo(memory.address() + 8);
        }
    }

    @Test
    void impossiblePlacesAreRefused() {
        assertRejected(() -> new TensorLayout(-1, List.of(), List.of()));
        assertRejected(() -> new TensorLayout(0, List.of(1L), List.of()));
        assertRejected(() -> new TensorLayout(0, List.of(1L), List.of(-1L)));
        TensorLayout far = new TensorLayout(1, List.of(Long.MAX_VALUE, 2L), List.of(2L, 1L));
        assertRejected(ArithmeticException.class, far::end);
    }

    @Test
    void noElementsReachNowhere() {
        assertThat(new TensorLayout(99, List.of(3L, 0L), List.of(7L, 1L)).end()).isZero();
    }
}
