package org.gramian.tensor.cuda;

import java.util.Optional;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.library.CudaGraph;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchException;

/**
 * Repeated work over the same tensors: the first run is eager, later runs replay a CUDA graph if the work can be
 * captured.
 *
 * <p>On a GPU it must be used inside a {@link CudaStream}.
 */
public final class CapturedWork implements AutoCloseable {
    /** Free memory that must remain beside that of the eager work, for the {@link SideStream} too; with less it stays eager. */
    private static final long MARGIN = 512L << 20;

    private final Device device;
    private final Runnable work;
    private final long pool;
    private boolean done;
    private Optional<CudaGraph> graph = Optional.empty();

    public CapturedWork(Device device, Runnable work) {
        this(device, CudaGraph.newPool(), work);
    }

    public CapturedWork(Device device, long pool, Runnable work) {
        this.device = device;
        this.pool = pool;
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
        freeCache(); // memory of other streams, which this one could not use
        long waits = CudaGraph.waits();
        work.run();
        if (Libtorch.load().cudaMemoryFree().orElse(0L) >= MARGIN && CudaGraph.waits() == waits) {
            graph = CudaGraph.record(device.index(), pool, this::freeCache, work);
        }
    }

    /**
     * Returns the memory that libtorch keeps for reuse to the GPU, as {@code torch.cuda.empty_cache()} does.
     *
     * <p>libtorch has no C function for this, but it frees its cache before it gives up an allocation, so this requests more memory
     * than the GPU has.
     */
    private void freeCache() {
        Libtorch libtorch = Libtorch.load();
        libtorch.cudaMemoryTotal()
                .ifPresent(total -> libtorch.silently(() -> {
                    try {
                        Tensors.empty(Shape.of(total), DType.U8, device).close();
                    } catch (LibtorchException expected) {
                        // out of memory
                    }
                }));
    }

    public boolean isRecorded() {
        return graph.isPresent();
    }

    @Override
    public void close() {
        graph.ifPresent(CudaGraph::close);
        graph = Optional.empty();
    }
}
