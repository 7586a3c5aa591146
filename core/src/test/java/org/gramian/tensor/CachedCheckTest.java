package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CachedCheckTest {
    @Test
    void checksPassedTensorOnlyOnce() {
        AtomicInteger looks = new AtomicInteger();
        CachedCheck positive = new CachedCheck(tensor -> {
            looks.incrementAndGet();
            return tensor.item() > 0;
        });
        try (Scope _ = Scope.open()) {
            Tensor one = Tensors.of(new double[] {1}, Shape.of(1), DType.F64);
            assertThat(positive.holds(one)).isTrue();
            assertThat(positive.holds(one)).isTrue();
            assertThat(looks).hasValue(1);
            assertThat(positive.holds(one.copy())).isTrue();
            assertThat(looks).as("an equal one is another one").hasValue(2);
            Tensor none = Tensors.of(new double[] {Double.NaN}, Shape.of(1), DType.F64);
            assertThat(positive.holds(none)).isFalse();
            assertThat(positive.holds(none)).isFalse();
            assertThat(looks).hasValue(4);
        }
    }
}
