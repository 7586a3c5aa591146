package org.gramian.tensor.cuda;

import java.util.Optional;
import org.gramian.tensor.Device;
import org.gramian.tensor.library.CudaGraph;
import org.gramian.tensor.library.Libtorch;

/**
 * Repeated work over the same tensors: the first run is eager, later runs replay a CUDA graph if the work can be
 * captured.
 *
 * <p>On a GPU it must be used inside a {@link CudaStream}.
 */
public final class CapturedWork implements AutoCloseable {
    /** Free memory that must remain after a capture; with less the work stays eager. */
    private static final long MARGIN = 256L << 20;

    private final Device device;
    private final Runnable work;
    private boolean done;
    private Optional<CudaGraph> graph = Optional.empty();

    /** Creates work for a device. */
    public CapturedWork(Device device, Runnable work) {
        this.device = device;
        this.work = work;
    }

    /** Runs the work once. */
    public void run() {
        if (graph.isPresent()) {
            graph.get().replay();
            return;
        }
        if (done || device.kind() != Device.Kind.CUDA || !CudaGraph.isAvailable()) {
            work.run();
            return;
        }
        done = true; // work that cannot be captured is not tried again
        long waits = CudaGraph.waits();
        long before = free();
        work.run();
        long after = free();
        boolean fits = after - MARGIN >= before - after; // a graph has memory of its own, as much as the eager run took
        if (fits && CudaGraph.waits() == waits) {
            graph = CudaGraph.record(device.index(), work);
        }
    }

    private static long free() {
        return Libtorch.load().cudaMemoryFree().orElse(0L);
    }

    /** Returns whether the work has been captured. */
    public boolean isRecorded() {
        return graph.isPresent();
    }

    @Override
    public void close() {
        graph.ifPresent(CudaGraph::close);
        graph = Optional.empty();
    }
}
