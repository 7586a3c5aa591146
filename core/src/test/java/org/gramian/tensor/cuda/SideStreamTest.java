package org.gramian.tensor.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scheduler;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.testing.Gpu;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SideStreamTest {
    @Test
    void thereIsNoneOnCpuAndOnDefaultStream() {
        assertThat(SideStream.open(Device.CPU)).isNull();
        Device gpu = Gpu.required();
        assertThat(SideStream.open(gpu)).isNull();
        assertThat(SideStream.openInCapture(gpu)).isSameAs(Scheduler.SEQUENTIAL);
        try (CudaStream _ = CudaStream.open(gpu);
                SideStream first = SideStream.open(gpu);
                SideStream second = SideStream.open(gpu)) {
            assertThat(first).isNotNull();
            assertThat(second).as("the one stream is in use").isNull();
            assertThat(SideStream.openInCapture(gpu)).as("nothing is captured").isSameAs(Scheduler.SEQUENTIAL);
        }
    }

    /** Some milliseconds of work on the current stream. */
    private static void delay(Tensor matrix) {
        try (Scope _ = Scope.open()) {
            for (int i = 0; i < 5; i++) {
                matrix.matmul(matrix);
            }
        }
    }

    /** The section reads late what was freed at once; without a reference its memory would be overwritten before. */
    @Test
    void whatSectionReadsIsNotOverwritten() {
        Device gpu = Gpu.required();
        Shape shape = Shape.of(1 << 20);
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor matrix = Tensors.zeros(Shape.of(4096, 4096), DType.F32, gpu);
            Tensor kept = Tensors.zeros(shape, DType.F32, gpu);
            repeated(gpu, () -> {
                try (SideStream side = Objects.requireNonNull(SideStream.open(gpu));
                        Scope _ = Scope.open()) {
                    List<Tensor> sums = new ArrayList<>();
                    for (int i = 0; i < 20; i++) { // more than are held at a time
                        Tensor x = Tensors.full(i, shape, DType.F32, gpu);
                        sums.addAll(nonNull(side.run(List.of(x), () -> {
                            delay(matrix);
                            return list(x.add(1));
                        })));
                        x.close();
                        Tensors.full(Double.NaN, shape, DType.F32, gpu);
                    }
                    side.join();
                    Tensor total = sums.getFirst();
                    for (Tensor each : sums.subList(1, sums.size())) {
                        total = total.add(each);
                    }
                    kept.copyFrom(total);
                }
            });
            assertThat(kept.toFloats()).containsOnly(210f);
        }
    }

    /** The current stream reads late a freed result, whose memory the next section writes. */
    @Test
    void freedResultIsReadBeforeItsMemoryIsUsedAgain() {
        Device gpu = Gpu.required();
        Shape shape = Shape.of(1 << 20);
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor matrix = Tensors.zeros(Shape.of(4096, 4096), DType.F32, gpu);
            Tensor kept = Tensors.zeros(shape, DType.F32, gpu);
            repeated(gpu, () -> {
                try (SideStream side = Objects.requireNonNull(SideStream.open(gpu));
                        Scope _ = Scope.open()) {
                    Tensor x = Tensors.full(2, shape, DType.F32, gpu);
                    Tensor result =
                            nonNull(side.run(List.of(x), () -> list(x.add(1)))).getFirst();
                    side.join();
                    delay(matrix);
                    kept.copyFrom(result);
                    result.close();
                    side.run(List.of(), () -> list(Tensors.full(Double.NaN, shape, DType.F32, gpu)));
                }
            });
            assertThat(kept.toFloats()).containsOnly(3f);
        }
    }

    private static List<Tensor> nonNull(List<@Nullable Tensor> tensors) {
        return tensors.stream().map(Objects::requireNonNull).toList();
    }

    /** Runs work eagerly and as a CUDA graph, each once. */
    private static void repeated(Device gpu, Runnable work) {
        try (CapturedWork captured = new CapturedWork(gpu, work)) {
            captured.run();
            captured.run();
            assertThat(captured.isRecorded()).isTrue();
        }
    }
}
