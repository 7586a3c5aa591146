package org.gramian.tensor.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
        this.abiVersion = (long) invoke(LINKER.downcallHandle(
                symbol("aoti_torch_abi_version"), FunctionDescriptor.of((MemoryLayout) JAVA_LONG)));
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

    /**
     * Returns whether the libtorch of this process can use GPUs as far as is known without loading it: the built-in one cannot, one
     * that {@code --libtorch} or {@code GRAMIAN_LIBTORCH} names may.
     */
    public static boolean mayUseGpu() {
        LibtorchSettings settings = LibtorchSettings.ofProcess();
        return settings.property(LibtorchSettings.FOLDER_PROPERTY) != null
                || settings.variable(LibtorchSettings.FOLDER_VARIABLE) != null;
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

    /** Opens libtorch's shared libraries in the order of their dependencies. */
    static final class LibtorchLoader {
        /** Prefixes of library names, dependencies first; absent ones are skipped. */
        private static final List<String> ORDER = List.of(
                "libgomp",
                "libgfortran",
                "libopenblas",
                "libarm_compute-",
                "libarm_compute_graph",
                "libc10.",
                "libtorch_cpu.");

        private static final List<String> WINDOWS_ORDER =
                List.of("libiomp5md.", "asmjit.", "fbgemm.", "uv.", "c10.", "torch_cpu.");
        private static final List<String> CUDA_ORDER = List.of("libc10_cuda.so", "libtorch_cuda.so");

        /** Library that exports NVRTC and the CUDA driver. */
        private static final String COMPILER = "libcaffe2_nvrtc.so";

        /** Loaded libraries: one lookup over all, whether CUDA is among them, and the run-time compiler if present. */
        record Libraries(SymbolLookup symbols, boolean cuda, Optional<SymbolLookup> compiler) {}

        static Libraries load(LibtorchFolder folder) {
            LoadingVariables.set();
            List<String> names = names(folder.folder());
            boolean windows = System.getProperty("os.name").startsWith("Windows");
            List<SymbolLookup> lookups = new ArrayList<>();
            for (String prefix : windows ? WINDOWS_ORDER : ORDER) {
                names.stream()
                        .filter(name -> name.startsWith(prefix) && isLibrary(name))
                        .forEach(name -> lookups.addFirst(open(folder.folder().resolve(name))));
            }
            boolean cuda = names.containsAll(CUDA_ORDER) && cudaDriverPresent();
            if (cuda) {
                CUDA_ORDER.forEach(name -> lookups.addFirst(open(folder.folder().resolve(name))));
            }
            SymbolLookup all = lookups.stream().reduce(SymbolLookup::or).orElseThrow();
            return new Libraries(all, cuda, cuda && names.contains(COMPILER) ? compiler(folder) : Optional.empty());
        }

        /** Opens the run-time compiler, which is optional. */
        private static Optional<SymbolLookup> compiler(LibtorchFolder folder) {
            try {
                return Optional.of(SymbolLookup.libraryLookup(folder.folder().resolve(COMPILER), Arena.global()))
                        .filter(lookup -> lookup.find("nvrtcCreateProgram").isPresent()
                                && lookup.find("cuLaunchKernel").isPresent());
            } catch (IllegalArgumentException absent) {
                return Optional.empty();
            }
        }

        /** Without a driver the CUDA libraries are not loaded, which would take seconds. */
        private static boolean cudaDriverPresent() {
            try (Arena arena = Arena.ofConfined()) {
                SymbolLookup.libraryLookup("libcuda.so.1", arena);
                return true;
            } catch (IllegalArgumentException absent) {
                return false;
            }
        }

        private static boolean isLibrary(String name) {
            return name.contains(".so") || name.endsWith(".dylib") || name.endsWith(".dll");
        }

        private static List<String> names(Path folder) {
            try (Stream<Path> files = Files.list(folder)) {
                return files.map(file -> file.getFileName().toString()).sorted().toList();
            } catch (IOException failed) {
                throw new LibtorchException(
                        "the libtorch folder " + folder + " cannot be read: " + failed.getMessage(), failed);
            }
        }

        private static SymbolLookup open(Path library) {
            try {
                return SymbolLookup.libraryLookup(library, Arena.global());
            } catch (IllegalArgumentException failed) {
                throw new LibtorchException(
                        library + " cannot be loaded (" + failed.getMessage()
                                + "); is it built for this system (" + System.getProperty("os.name") + ", "
                                + System.getProperty("os.arch") + ") and complete?",
                        failed);
            }
        }

        /**
         * Environment variables of libtorch and its libraries, which read them once on loading. They are set in this
         * process just before, unless the user has set them.
         *
         * <ul>
         *   <li>Large tensors use pages of 2 MiB. Their memory is allocated and freed all the time, and page faults of 4
         * KiB
         *       took a tenth of a training step.
         *   <li>Idle threads sleep at once instead of spinning for about 15 ms, libgomp's default: beside other work,
         *       spinning threads take cores from working ones.
         *   <li>GPU memory is mapped in segments that grow: a captured training step of VGG-16 with batch 128 takes 5.5 instead of 9.7
         *       GiB, as fast. The second name is for libtorch before 2.9.
         * </ul>
         */
        static final class LoadingVariables {
            static final String HUGE_PAGES = "THP_MEM_ALLOC_ENABLE";
            static final String SPINS = "GOMP_SPINCOUNT";
            static final String WAITING = "OMP_WAIT_POLICY";
            static final List<String> GPU_MEMORY = List.of("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF");

            /** Returns the variables to set for a given environment. */
            static Map<String, String> wanted(Map<String, String> environment) {
                Map<String, String> variables = new LinkedHashMap<>();
                variables.put(HUGE_PAGES, "1");
                if (!environment.containsKey(SPINS)) {
                    variables.put(WAITING, "passive");
                }
                if (GPU_MEMORY.stream().noneMatch(environment::containsKey)) {
                    GPU_MEMORY.forEach(name -> variables.put(name, "expandable_segments:True"));
                }
                variables.keySet().removeAll(environment.keySet());
                return variables;
            }

            /** Sets the variables, on Linux only. */
            static void set() {
                if (System.getProperty("os.name").equals("Linux")) {
                    EnvironmentVariables.setUnset(wanted(System.getenv())); // a failure costs time only
                }
            }
        }
    }
}
