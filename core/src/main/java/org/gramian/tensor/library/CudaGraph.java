package org.gramian.tensor.library;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Captured GPU work that is replayed as a whole, with one call for any number of operators.
 *
 * <p>Captured work reads and writes the same memory at every replay. Inputs must be written to tensors that existed at
 * capture. Results are copied to such tensors, or are kept open: then every replay overwrites them in the memory of the graph,
 * where temporaries are too. The work must not wait for the GPU or read from it, as most decompositions do.
 *
 * <p>The work is captured twice. The first capture is a trial with CUDA's own functions, which return an error code if
 * an operator cannot be captured. libtorch's functions, which manage the memory, would abort the process in that case.
 */
public final class CudaGraph implements AutoCloseable {
    /** {@code cudaStreamCaptureModeRelaxed}: other threads may allocate during a capture. */
    private static final int RELAXED = 2;

    /** More than {@code sizeof(at::cuda::CUDAGraph)} of any version: about 200 bytes now. */
    private static final long OBJECT_BYTES = 4096;

    /** Memory pools of the user of libtorch have a number as second value; these are far above those of its own counter. */
    private static final AtomicLong NEXT_POOL = new AtomicLong(1L << 40);

    private static final ThreadLocal<long[]> WAITS = ThreadLocal.withInitial(() -> new long[1]);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment graph = arena.allocate(OBJECT_BYTES, 64);
    private boolean closed;

    private CudaGraph() {}

    /** Counts an operator that waits for the GPU: capturing it would print an error to stderr. */
    public static void waited() {
        WAITS.get()[0]++;
    }

    /** Returns the number of such operators that this thread has run. */
    public static long waits() {
        return WAITS.get()[0];
    }

    /** Returns whether this libtorch can capture work of a GPU. */
    public static boolean isAvailable() {
        return Libtorch.load().cudaDevices() > 0 && Cuda.Graphs.exist();
    }

    /**
     * Returns a number for {@link #record}: graphs that are never replayed at the same time can share the memory of their
     * temporaries. All graphs with one number must be captured before the first of them is closed.
     */
    public static long newPool() {
        return NEXT_POOL.getAndIncrement();
    }

    /**
     * Captures work inside a {@code CudaStream} without executing it.
     *
     * @param pool from {@link #newPool}
     * @param freeCache frees memory that libtorch has cached, which it cannot do during a capture
     * @param work submits work to the GPU; called twice, and once before by the caller, so that all lazy initialization is done
     * @return empty if the work cannot be captured
     */
    public static Optional<CudaGraph> record(int device, long pool, Runnable freeCache, Runnable work) {
        MemorySegment stream = Cuda.currentStream(device);
        if (!isAvailable() || stream.equals(MemorySegment.NULL) || !rehearse(stream, work)) {
            return Optional.empty();
        }
        freeCache.run();
        CudaGraph graph = new CudaGraph();
        try {
            Cuda.Graphs.construct(graph.graph);
            Cuda.Graphs.BEGIN.invokeExact(graph.graph, 0L, pool, RELAXED);
            try {
                work.run();
            } catch (LibtorchException outOfMemory) { // the only failure left after the trial capture
                endCapture(stream);
                return Optional.empty(); // the graph object leaks: its destructor expects a finished capture
            }
            Cuda.Graphs.END.invokeExact(graph.graph);
            return Optional.of(graph);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static boolean rehearse(MemorySegment stream, Runnable work) {
        try {
            NativeErrors.check((int) Cuda.BEGIN_CAPTURE.invokeExact(stream, RELAXED), "recording");
            boolean possible = true;
            try {
                work.run();
            } catch (LibtorchException impossible) {
                possible = false;
            } finally {
                possible &= endCapture(stream);
            }
            return possible;
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    /** Ends and discards a capture; returns whether it was valid. */
    private static boolean endCapture(MemorySegment stream) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(ADDRESS);
            boolean good = (int) Cuda.END_CAPTURE.invokeExact(stream, word) == 0;
            MemorySegment made = word.get(ADDRESS, 0);
            if (!made.equals(MemorySegment.NULL)) {
                NativeErrors.check((int) Cuda.DESTROY_GRAPH.invokeExact(made), "recording");
            }
            int _ = (int) Cuda.LAST_ERROR.invokeExact(); // clears the error of the failed capture
            return good;
        }
    }

    /** Submits the captured work to the current stream; does not wait for it. */
    public void replay() {
        if (closed) {
            throw new IllegalStateException("this graph has been freed");
        }
        try {
            Cuda.Graphs.REPLAY.invokeExact(graph);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                Cuda.Graphs.DESTROY.invokeExact(graph);
            } catch (Throwable thrown) {
                throw NativeErrors.wrap(thrown);
            }
            arena.close();
        }
    }
}
