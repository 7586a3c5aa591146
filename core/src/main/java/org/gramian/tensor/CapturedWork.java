package org.gramian.tensor;

import java.util.Optional;

/**
 * Work that is done again and again over the same tensors: the first time as it is, from then on as a {@link CudaGraph}
 * where it can be recorded. Elsewhere it is done as it is every time.
 *
 * <p>On a GPU, use it inside of a {@link CudaStream}.
 */
public final class CapturedWork implements AutoCloseable {
    /** What is left to others when memory is tight: with less, work is done as it is. */
    private static final long MARGIN = 256L << 20;

    private final Device device;
    private final Runnable work;
    private boolean done;
    private Optional<CudaGraph> graph = Optional.empty();

    public CapturedWork(Device device, Runnable work) {
        this.device = device;
        this.work = work;
    }

    /** Does it once more. */
    public void run() {
        if (graph.isPresent()) {
            graph.get().replay();
            return;
        }
        if (done || !CudaGraph.isAvailable(device)) {
            work.run();
            return;
        }
        done = true; // what cannot be recorded is not tried again
        long waits = CudaGraph.waits();
        long before = free();
        work.run();
        long after = free();
        boolean fits =
                after - MARGIN >= before - after; // a recording has memory of its own, as much as the first time took
        if (fits && CudaGraph.waits() == waits) {
            graph = CudaGraph.record(device, work);
        }
    }

    private static long free() {
        return Libtorch.load().cudaMemoryFree().orElse(0L);
    }

    /** Whether it is a recording by now. */
    public boolean isRecorded() {
        return graph.isPresent();
    }

    @Override
    public void close() {
        graph.ifPresent(CudaGraph::close);
        graph = Optional.empty();
    }
}
