package org.gramian.tensor.library;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Opens libtorch's shared libraries in the order of their dependencies. */
final class LibtorchLoader {
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

    private LibtorchLoader() {}

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

        private LoadingVariables() {}

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
            if (!System.getProperty("os.name").equals("Linux")) {
                return;
            }
            Linker linker = Linker.nativeLinker();
            MethodHandle setter = linker.downcallHandle(
                    linker.defaultLookup().find("setenv").orElseThrow(),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
            try (Arena arena = Arena.ofConfined()) {
                for (Map.Entry<String, String> variable :
                        wanted(System.getenv()).entrySet()) {
                    // a failure costs time only
                    int _ = (int) setter.invokeExact(
                            arena.allocateFrom(variable.getKey()), arena.allocateFrom(variable.getValue()), 0);
                }
            } catch (Throwable thrown) {
                throw NativeErrors.wrap(thrown);
            }
        }
    }
}
