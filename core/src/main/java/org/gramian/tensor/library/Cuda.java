package org.gramian.tensor.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Functions of the CUDA runtime, driver and run-time compiler, and of libtorch's graphs; used only if libtorch has
 * them.
 *
 * <p>C functions return an error code. Those of {@code at::cuda::CUDAGraph} are C++ and have none: {@link CudaGraph}
 * calls them only after a successful trial capture.
 */
public final class Cuda {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup SYMBOLS = Libtorch.load().symbols();
    private static final int NO_TIMING = 2; // cudaEventDisableTiming

    public static final MethodHandle SET_DEVICE = code("cudaSetDevice", JAVA_INT);
    public static final MethodHandle ATTRIBUTE = code("cudaDeviceGetAttribute", ADDRESS, JAVA_INT, JAVA_INT);
    public static final MethodHandle NEW_STREAM = code("cudaStreamCreateWithFlags", ADDRESS, JAVA_INT);
    public static final MethodHandle NEW_STREAM_OF_PRIORITY =
            code("cudaStreamCreateWithPriority", ADDRESS, JAVA_INT, JAVA_INT);
    public static final MethodHandle SYNCHRONIZE = code("cudaStreamSynchronize", ADDRESS);
    public static final MethodHandle BEGIN_CAPTURE = code("cudaStreamBeginCapture", ADDRESS, JAVA_INT);
    public static final MethodHandle IS_CAPTURING = code("cudaStreamIsCapturing", ADDRESS, ADDRESS);
    public static final MethodHandle END_CAPTURE = code("cudaStreamEndCapture", ADDRESS, ADDRESS);
    public static final MethodHandle DESTROY_GRAPH = code("cudaGraphDestroy", ADDRESS);
    public static final MethodHandle LAST_ERROR = code("cudaGetLastError");
    public static final MethodHandle CURRENT_STREAM = code("aoti_torch_get_current_cuda_stream", JAVA_INT, ADDRESS);
    public static final MethodHandle NEW_GUARD =
            code("aoti_torch_create_cuda_stream_guard", ADDRESS, JAVA_INT, ADDRESS);
    public static final MethodHandle DELETE_GUARD = code("aoti_torch_delete_cuda_stream_guard", ADDRESS);

    private Cuda() {}

    /** Asynchronous copies and events. */
    public static final class Copies {
        public static final MethodHandle COPY = code("cudaMemcpyAsync", ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS);
        public static final MethodHandle PIN = code("cudaHostRegister", ADDRESS, JAVA_LONG, JAVA_INT);
        public static final MethodHandle UNPIN = code("cudaHostUnregister", ADDRESS);
        public static final MethodHandle NEW_EVENT = code("cudaEventCreateWithFlags", ADDRESS, JAVA_INT);
        public static final MethodHandle RECORD = code("cudaEventRecord", ADDRESS, ADDRESS);
        public static final MethodHandle WAIT = code("cudaStreamWaitEvent", ADDRESS, ADDRESS, JAVA_INT);
        public static final MethodHandle AWAIT = code("cudaEventSynchronize", ADDRESS);
        public static final MethodHandle DELETE_EVENT = code("cudaEventDestroy", ADDRESS);
        public static final MethodHandle DELETE_STREAM = code("cudaStreamDestroy", ADDRESS);
    }

    /** Member functions of {@code at::cuda::CUDAGraph} under their mangled names. */
    public static final class Graphs {
        private static final String CLASS = "_ZN2at4cuda9CUDAGraph";
        private static final String CONSTRUCTOR = CLASS + "C1Eb";
        private static final String FORMER_CONSTRUCTOR = CLASS + "C1Ev";
        private static final String BEGINNING = CLASS + "13capture_beginESt4pairIyyE21cudaStreamCaptureMode";

        public static final MethodHandle BEGIN = method(BEGINNING, JAVA_LONG, JAVA_LONG, JAVA_INT);
        public static final MethodHandle END = method(CLASS + "11capture_endEv");
        public static final MethodHandle REPLAY = method(CLASS + "6replayEv");
        public static final MethodHandle DESTROY = method(CLASS + "D1Ev");

        /** Returns whether this libtorch has these functions. */
        public static boolean exist() {
            return SYMBOLS.find(BEGINNING).isPresent()
                    && (SYMBOLS.find(CONSTRUCTOR).isPresent()
                            || SYMBOLS.find(FORMER_CONSTRUCTOR).isPresent());
        }

        /** Constructs a graph in memory of the caller. */
        public static void construct(MemorySegment graph) throws Throwable {
            if (SYMBOLS.find(CONSTRUCTOR).isPresent()) {
                method(CONSTRUCTOR, JAVA_BOOLEAN).invokeExact(graph, false);
            } else {
                method(FORMER_CONSTRUCTOR).invokeExact(graph);
            }
        }

        private static MethodHandle method(String name, MemoryLayout... arguments) {
            MemoryLayout[] all = new MemoryLayout[arguments.length + 1];
            all[0] = ADDRESS;
            System.arraycopy(arguments, 0, all, 1, arguments.length);
            return LINKER.downcallHandle(Libtorch.load().symbol(name), FunctionDescriptor.ofVoid(all));
        }
    }

    /** NVRTC, and the driver that loads and launches kernels. */
    public static final class Compiler {
        private static final Optional<SymbolLookup> LOOKUP = Libtorch.load().compiler();

        public static final MethodHandle CREATE =
                function("nvrtcCreateProgram", ADDRESS, ADDRESS, ADDRESS, JAVA_INT, ADDRESS, ADDRESS);
        public static final MethodHandle COMPILE = function("nvrtcCompileProgram", ADDRESS, JAVA_INT, ADDRESS);
        public static final MethodHandle LOG_SIZE = function("nvrtcGetProgramLogSize", ADDRESS, ADDRESS);
        public static final MethodHandle LOG = function("nvrtcGetProgramLog", ADDRESS, ADDRESS);
        public static final MethodHandle SIZE = function("nvrtcGetCUBINSize", ADDRESS, ADDRESS);
        public static final MethodHandle CODE = function("nvrtcGetCUBIN", ADDRESS, ADDRESS);
        public static final MethodHandle DESTROY = function("nvrtcDestroyProgram", ADDRESS);
        public static final MethodHandle LOAD = function("cuModuleLoadData", ADDRESS, ADDRESS);
        public static final MethodHandle FIND = function("cuModuleGetFunction", ADDRESS, ADDRESS, ADDRESS);
        public static final MethodHandle LAUNCH = function(
                "cuLaunchKernel",
                ADDRESS,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                JAVA_INT,
                ADDRESS,
                ADDRESS,
                ADDRESS);

        private static MethodHandle function(String name, MemoryLayout... arguments) {
            MemorySegment address = LOOKUP.flatMap(lookup -> lookup.find(name))
                    .orElseThrow(() -> new LibtorchException("CUDA's run-time compiler has no function " + name));
            return LINKER.downcallHandle(address, FunctionDescriptor.of(JAVA_INT, arguments));
        }
    }

    private static MethodHandle code(String name, MemoryLayout... arguments) {
        return LINKER.downcallHandle(Libtorch.load().symbol(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    /** Returns libtorch's current stream of this thread on a GPU. */
    public static MemorySegment currentStream(int device) {
        return pointer("the current stream", word -> (int) CURRENT_STREAM.invokeExact(device, word));
    }

    /** Creates an event without timing. */
    public static MemorySegment newEvent() {
        return pointer("an event", word -> (int) Copies.NEW_EVENT.invokeExact(word, NO_TIMING));
    }

    /** Records an event behind the work that a stream has received so far. */
    public static void record(MemorySegment event, MemorySegment stream) {
        NativeErrors.call("event of a stream", () -> (int) Copies.RECORD.invokeExact(event, stream));
    }

    /** Makes later work of a stream wait for an event. */
    public static void await(MemorySegment stream, MemorySegment event) {
        NativeErrors.call("wait of a stream", () -> (int) Copies.WAIT.invokeExact(stream, event, 0));
    }

    /** Call that writes a pointer. */
    @FunctionalInterface
    public interface Call {
        int into(MemorySegment word) throws Throwable;
    }

    /** Returns the pointer that a call writes. */
    public static MemorySegment pointer(String operation, Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(ADDRESS);
            NativeErrors.call(operation, () -> call.into(word));
            return word.get(ADDRESS, 0);
        }
    }
}
