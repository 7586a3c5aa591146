package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.assertRejected;

import java.util.Optional;
import org.gramian.tensor.cuda.CapturedWork;
import org.gramian.tensor.cuda.CudaStream;
import org.gramian.tensor.library.CudaGraph;
import org.gramian.tensor.library.Libtorch;
import org.gramian.testing.Gpu;
import org.junit.jupiter.api.Test;

class CudaGraphTest {
    @Test
    void recordedWorkFindsWhatWasWrittenIntoItsTensors() {
        Device gpu = Gpu.required();
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor x = Tensors.full(1, Shape.of(64, 64), DType.F32, gpu);
            Tensor sum = Tensors.zeros(Shape.of(64, 64), DType.F32, gpu);
            Runnable work = () -> {
                try (Scope _ = Scope.open()) {
                    sum.copyFrom(sum.add(x.matmul(x)));
                }
            };
            work.run();
            try (CudaGraph graph = CudaGraph.record(gpu.index(), CudaGraph.newPool(), () -> {}, work)
                    .orElseThrow()) {
                assertThat(sum.toDoubles()[0]).as("recording does nothing").isEqualTo(64);
                graph.replay();
                x.fill(2);
                graph.replay();
                assertThat(sum.toDoubles()[5]).isEqualTo(64 + 64 + 256);
            }
        }
    }

    @Test
    void memoryOfGraphIsNotGivenToOthers() {
        Device gpu = Gpu.required();
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor result = Tensors.zeros(Shape.of(1 << 20), DType.F32, gpu);
            Tensor x = Tensors.full(3, Shape.of(1 << 20), DType.F32, gpu);
            Runnable work = () -> {
                try (Scope _ = Scope.open()) {
                    result.copyFrom(x.mul(x).mul(x));
                }
            };
            work.run();
            try (CudaGraph graph = CudaGraph.record(gpu.index(), CudaGraph.newPool(), () -> {}, work)
                    .orElseThrow()) {
                Tensor others = Tensors.full(7, Shape.of(1 << 20), DType.F32, gpu);
                graph.replay();
                assertThat(others.toFloats()).containsOnly(7f);
                assertThat(result.toFloats()).containsOnly(27f);
            }
        }
    }

    @Test
    void synchronizingWorkIsNotRecordedAndStillRuns() {
        Device gpu = Gpu.required();
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor x = Tensors.full(2, Shape.of(4), DType.F32, gpu);
            Optional<CudaGraph> graph = CudaGraph.record(gpu.index(), CudaGraph.newPool(), () -> {}, x::toDoubles);
            assertThat(graph).isEmpty();
            assertThat(x.add(1).toDoubles()).containsOnly(3);
        }
    }

    @Test
    void graphsShareMemoryOfTheirWork() {
        Device gpu = Gpu.required();
        Libtorch libtorch = Libtorch.load();
        long gib = 1L << 30;
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor sum = Tensors.zeros(Shape.of(1), DType.F32, gpu);
            Runnable work = () -> {
                try (Scope _ = Scope.open()) {
                    Tensor ones = Tensors.full(1, Shape.of(gib / 4), DType.F32, gpu);
                    sum.copyFrom(sum.add(ones.slice(0, 0, 1)));
                }
            };
            long pool = CudaGraph.newPool();
            long before = libtorch.cudaMemoryInUse().orElseThrow();
            try (CapturedWork first = new CapturedWork(gpu, pool, work);
                    CapturedWork second = new CapturedWork(gpu, pool, work)) {
                for (int i = 0; i < 3; i++) {
                    first.run();
                    second.run();
                }
                assertThat(first.isRecorded() && second.isRecorded()).isTrue();
                assertThat(sum.item()).isEqualTo(6);
                assertThat(libtorch.cudaMemoryInUse().orElseThrow() - before).isLessThan(gib + gib / 2);
            }
        }
    }

    @Test
    void onProcessorWorkIsRepeatedAsItIs() {
        int[] runs = new int[1];
        try (CudaStream _ = CudaStream.open(Device.CPU);
                CapturedWork work = new CapturedWork(Device.CPU, () -> runs[0]++)) {
            work.run();
            work.run();
            assertThat(work.isRecorded()).isFalse();
        }
        assertThat(runs[0]).isEqualTo(2);
    }

    @Test
    void freedGraphCannotBeReplayed() {
        Device gpu = Gpu.required();
        try (CudaStream _ = CudaStream.open(gpu);
                Scope _ = Scope.open()) {
            Tensor x = Tensors.zeros(Shape.of(1), DType.F32, gpu);
            CudaGraph graph = CudaGraph.record(gpu.index(), CudaGraph.newPool(), () -> {}, () -> x.fill(1))
                    .orElseThrow();
            graph.close();
            assertRejected(IllegalStateException.class, graph::replay);
        }
    }
}
