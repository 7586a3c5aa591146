package org.gramian.tensor.cuda;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.junit.jupiter.api.Test;

class GpuUploadTest {
    private static final int COUNT = 1 << 20;

    @Test
    void eachStepReadsItsOwnBatch() {
        Device gpu = Gpu.required();
        try (Arena arena = Arena.ofConfined();
                CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor x = Tensors.zeros(Shape.of(COUNT), DType.F32, gpu);
            Tensor sums = Tensors.zeros(Shape.of(20), DType.F32, gpu);
            MemorySegment[] sources = {arena.allocate(4L * COUNT, 64), arena.allocate(4L * COUNT, 64)};
            try (GpuUpload upload = new GpuUpload(x)) {
                for (int i = 0; i < 20; i++) {
                    MemorySegment source = sources[i % 2];
                    if (i > 0) {
                        upload.awaitSource();
                    }
                    for (long k = 0; k < COUNT; k++) {
                        source.setAtIndex(JAVA_FLOAT, k, i);
                    }
                    upload.start(source);
                    upload.takeOver();
                    for (int work = 0; work < 50; work++) { // so that the next batch arrives before this one is used up
                        x.mul(2).close();
                    }
                    sums.slice(0, i, i + 1).copyFrom(x.mean().reshape(1));
                }
            }
            for (int i = 0; i < 20; i++) {
                assertThat(sums.toDoubles()[i]).as("step %d", i).isEqualTo(i);
            }
        }
    }
}
