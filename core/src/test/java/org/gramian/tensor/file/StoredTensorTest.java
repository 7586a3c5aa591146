package org.gramian.tensor.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.lang.foreign.MemorySegment;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.junit.jupiter.api.Test;

final class StoredTensorTest {
    private static final MemorySegment FIVE_BYTES = MemorySegment.ofArray(new byte[5]);

    @Test
    void dataSizeMustMatchTypeAndShape() {
        assertThat(new StoredTensor(DType.U8, Shape.of(5), FIVE_BYTES).data()).isSameAs(FIVE_BYTES);
        assertRejected(() -> new StoredTensor(DType.F32, Shape.of(2, 3), FIVE_BYTES), "F32", "[2, 3]", "24", "5");
    }

    @Test
    void sizeBeyondTwoToThe63IsRejected() {
        assertRejected(() -> new StoredTensor(DType.F64, Shape.of(1L << 61, 2), FIVE_BYTES), "2^63-1");
    }

    @Test
    void moreThan64DimensionsAreRejectedByStoredTensor() {
        assertRejected(() -> new StoredTensor(DType.U8, Shape.of(new long[65]), FIVE_BYTES), "64", "dimensions", "65");
    }
}
