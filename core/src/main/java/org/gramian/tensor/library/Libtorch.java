package org.gramian.tensor.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The libtorch of this process: its folder, its version and its global switches.
 *
 * <p>It is loaded once, by the first tensor or by {@link #load()}. Functions of the C ABI are looked up by name. The
 * few C++ functions (switches only) are optional, so that a version without them still works.
 */
public final class Libtorch {
    /** Whether this is an arm64 processor, for which some of libtorch's operators are slow. */
    public static final boolean ARM64 = System.getProperty("os.arch").equals("aarch64");

    /** {@code GLOG_FATAL}, above the level of errors. */
    private static final int FATAL = 3;

    private static final Linker LINKER = Linker.nativeLinker();
    private static @Nullable Libtorch loaded;

    private final LibtorchFolder folder;
    private final SymbolLookup symbols;
    private final Optional<SymbolLookup> compiler;
    private final long abiVersion;
    private final boolean lists;
    private final int cudaDevices;
    private GpuMath math = GpuMath.DEFAULT;
    /** Linked once: benchmarks call it around every run. */
    private final Optional<MethodHandle> synchronizer;

    private Libtorch(LibtorchFolder folder) {
        this.folder = folder;
        LibtorchLoader.Libraries libraries = LibtorchLoader.load(folder);
        this.symbols = libraries.symbols();
        this.compiler = libraries.compiler();
        this.abiVersion = callLong("aoti_torch_abi_version");
        this.lists = symbols.find("torch_call_dispatcher").isPresent();
        this.cudaDevices = libraries.cuda() ? countCudaDevices() : 0;
        this.synchronizer = find("cudaDeviceSynchronize", FunctionDescriptor.of(JAVA_INT));
        if (cudaDevices > 0) {
            apply(null, math); // libtorch enables TF32 in convolutions by default
        }
        if (ARM64) { // cpuKernels names these switches, so that features are cached apart from those of other kernels
            setContextSwitch("_ZN2at7Context20setUserEnabledMkldnnEb", false); // oneDNN's backward is slow there
            // NNPACK takes batches of 16 and more there: twice the time per image, and its own threads beside OpenMP's
            setContextSwitch("_ZN2at7Context20setUserEnabledNNPACKEb", false);
        }
    }

    /**
     * Returns the libtorch of this process and loads it on the first call.
     *
     * @throws LibtorchException if none is found or loading fails; the message names what to try
     */
    public static synchronized Libtorch load() {
        Libtorch present = loaded;
        if (present == null) {
            present = new Libtorch(LibtorchFolder.locate());
            loaded = present;
        }
        return present;
    }

    /** Returns the folder of the libraries and how it was chosen. */
    public LibtorchFolder folder() {
        return folder;
    }

    /** Returns the version, such as {@code 2.7.1}. */
    public String version() {
        return (abiVersion >>> 56) + "." + (abiVersion >>> 48 & 0xff) + "." + (abiVersion >>> 40 & 0xff);
    }

    /** Returns the processor and what is special about convolutions on it: both decide the last bits of features. */
    public String cpuKernels() {
        return "cpu " + System.getProperty("os.arch") + (ARM64 ? " without oneDNN and NNPACK, channels last" : "");
    }

    /** Returns the version of the C ABI. */
    public long abiVersion() {
        return abiVersion;
    }

    /** Returns whether the dispatcher accepts lists and strings (libtorch 2.10 and later). */
    public boolean hasLists() {
        return lists;
    }

    /** Returns the number of GPUs that this libtorch can use. */
    public int cudaDevices() {
        return cudaDevices;
    }

    /** Returns the number of threads of one operator. */
    public int threads() {
        return find("_ZN2at15get_num_threadsEv", FunctionDescriptor.of(JAVA_INT))
                .map(f -> (int) invoke(f))
                .orElse(Runtime.getRuntime().availableProcessors());
    }

    /** Sets the number of threads of one operator. Results are reproducible for a fixed number of threads. */
    public void setThreads(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("expected at least 1 thread, found " + threads);
        }
        MethodHandle setter = find("_ZN2at15set_num_threadsEi", FunctionDescriptor.ofVoid(JAVA_INT))
                .orElseThrow(() -> new LibtorchException("this libtorch cannot set the number of threads;"
                        + " set the environment variable OMP_NUM_THREADS instead"));
        invoke(setter, threads);
    }

    /** Returns the current GPU math mode. */
    public GpuMath math() {
        return math;
    }

    /** Sets the GPU math mode of all threads. */
    public void setMath(GpuMath wanted) {
        GpuMath before = math;
        math = wanted;
        if (cudaDevices > 0) { // without a GPU the switches have no effect
            apply(before, wanted);
        }
    }

    private void apply(@Nullable GpuMath before, GpuMath wanted) {
        if (before == null || before.tf32() != wanted.tf32()) {
            setContextSwitch("_ZN2at7Context18setAllowTF32CuBLASEb", wanted.tf32());
            setContextSwitch("_ZN2at7Context17setAllowTF32CuDNNEb", wanted.tf32());
        }
        if (before == null || before.reproducible() != wanted.reproducible()) {
            setContextSwitch("_ZN2at7Context21setDeterministicCuDNNEb", wanted.reproducible());
        }
        if (before == null || before.trials() != wanted.trials()) {
            setContextSwitch("_ZN2at7Context17setBenchmarkCuDNNEb", wanted.trials());
        }
    }

    /**
     * Runs a computation in a GPU math mode and restores the previous one. The mode is global, so only one thread may
     * call this.
     */
    public <T> T with(GpuMath wanted, Supplier<T> work) {
        GpuMath before = math;
        if (wanted.equals(before)) {
            return work.get();
        }
        setMath(wanted);
        try {
            return work.get();
        } finally {
            setMath(before);
        }
    }

    /** Runs a computation in float32 without TF32. */
    public <T> T exactly(Supplier<T> work) {
        return with(math.withTf32(false), work);
    }

    /** Waits until the GPU has finished all submitted work; returns at once without a GPU. */
    public void synchronize() {
        synchronizer.ifPresent(f -> NativeErrors.check((int) invoke(f), "synchronization with the GPU"));
    }

    /** Returns the GPU memory in use by all processes in bytes, if the CUDA runtime reports it. */
    public Optional<Long> cudaMemoryInUse() {
        return cudaMemory().map(memory -> memory.total - memory.free);
    }

    /** Returns the free GPU memory in bytes, if the CUDA runtime reports it. */
    public Optional<Long> cudaMemoryFree() {
        return cudaMemory().map(Memory::free);
    }

    /** Returns all GPU memory in bytes, free or not, if the CUDA runtime reports it. */
    public Optional<Long> cudaMemoryTotal() {
        return cudaMemory().map(Memory::total);
    }

    /** Runs work that is expected to fail without libtorch's message on stderr; does not run it if that cannot be had. */
    public void silently(Runnable work) {
        symbols.find("FLAGS_caffe2_log_level")
                .map(level -> level.reinterpret(4))
                .ifPresent(level -> {
                    int former = level.get(JAVA_INT, 0);
                    level.set(JAVA_INT, 0, FATAL);
                    try {
                        work.run();
                    } finally {
                        level.set(JAVA_INT, 0, former);
                    }
                });
    }

    private record Memory(long free, long total) {}

    private Optional<Memory> cudaMemory() {
        if (cudaDevices == 0) {
            return Optional.empty();
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(JAVA_LONG);
            MemorySegment total = arena.allocate(JAVA_LONG);
            return find("cudaMemGetInfo", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS))
                    .filter(f -> (int) invoke(f, free, total) == 0)
                    .map(_ -> new Memory(free.get(JAVA_LONG, 0), total.get(JAVA_LONG, 0)));
        }
    }

    /** Returns the functions of all libraries. */
    public SymbolLookup symbols() {
        return symbols;
    }

    /** Returns the CUDA run-time compiler and driver, if a GPU is usable and libtorch came with them. */
    public Optional<SymbolLookup> compiler() {
        return compiler;
    }

    /**
     * Returns the address of a function.
     *
     * @throws LibtorchException if there is none
     */
    public MemorySegment symbol(String name) {
        return symbols.find(name)
                .orElseThrow(() -> new LibtorchException("libtorch at " + folder.folder() + " lacks the function "
                        + name + "; use PyTorch 2.7 or later"));
    }

    private void setContextSwitch(String setter, boolean value) {
        find("_ZN2at13globalContextEv", FunctionDescriptor.of(ADDRESS))
                .ifPresent(context -> find(setter, FunctionDescriptor.ofVoid(ADDRESS, JAVA_BOOLEAN))
                        .ifPresent(f -> invoke(f, invoke(context), value)));
    }

    private int countCudaDevices() {
        return find("_ZN3c104cuda12device_countEv", FunctionDescriptor.of(JAVA_BYTE))
                .map(f -> Byte.toUnsignedInt((byte) invoke(f)))
                .orElse(0);
    }

    private long callLong(String name) {
        return (long) invoke(LINKER.downcallHandle(symbol(name), FunctionDescriptor.of((MemoryLayout) JAVA_LONG)));
    }

    private Optional<MethodHandle> find(String name, FunctionDescriptor descriptor) {
        return symbols.find(name).map(address -> LINKER.downcallHandle(address, descriptor));
    }

    private static Object invoke(MethodHandle function, Object... arguments) {
        try {
            Object result = function.invokeWithArguments(arguments);
            return result == null ? 0 : result;
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }
}
