package org.gramian.benchmarks;

import java.util.OptionalLong;
import java.util.function.Supplier;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Libtorch;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;

/**
 * The most memory of the GPU that this process has held, beyond what CUDA itself takes: the growth of what is in use while
 * it works, summed up.
 *
 * <p>Only one worker works at a time, so that what grows meanwhile is its own. libtorch keeps what it has freed, so that
 * nothing is missed between two looks. {@code worker.py} measures the same way.
 */
final class GpuMemory {
    private final boolean known;
    private long own;
    private long peak;

    GpuMemory(Device device) {
        known = device.kind() == Device.Kind.CUDA
                && Libtorch.load().cudaMemoryInUse().isPresent();
        if (known) {
            Tensors.zeros(Shape.of(1), DType.F32, device).close(); // CUDA's own memory is taken by the first tensor
        }
    }

    /** Does something whose growth counts. */
    <R> R during(Supplier<R> work) {
        long before = inUse();
        R result = work.get();
        own += inUse() - before;
        peak = Math.max(peak, own);
        return result;
    }

    private long inUse() {
        return known ? Libtorch.load().cudaMemoryInUse().orElse(0L) : 0;
    }

    /** In bytes; nothing on the processor. */
    OptionalLong peak() {
        return known ? OptionalLong.of(peak) : OptionalLong.empty();
    }
}
