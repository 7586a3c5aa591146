package org.gramian.tensor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.gramian.tensor.library.LibtorchException;
import org.gramian.tensor.library.LibtorchFolder;

/** Opens libtorch's shared libraries in the order of their dependencies. */
final class LibtorchLoader {
    /** Beginnings of library names, dependencies first; what a folder lacks is skipped, except the last of them. */
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

    /** libtorch's door to CUDA's run-time compiler and driver, which it opens late itself. */
    private static final String COMPILER = "libcaffe2_nvrtc.so";

    /** What loading gave: one lookup over all libraries, whether CUDA's are among them, and its compiler if there is one. */
    record Libraries(SymbolLookup symbols, boolean cuda, Optional<SymbolLookup> compiler) {}

    static Libraries load(LibtorchFolder folder) {
        LoadingVariables.set();
        List<String> names = names(folder.folder());
        boolean windows = System.getProperty("os.name").startsWith("Windows");
        List<SymbolLookup> lookups = new ArrayList<>();
        for (String beginning : windows ? WINDOWS_ORDER : ORDER) {
            names.stream()
                    .filter(name -> name.startsWith(beginning) && isLibrary(name))
                    .forEach(name -> lookups.addFirst(open(folder.folder().resolve(name))));
        }
        boolean cuda = names.containsAll(CUDA_ORDER) && cudaDriverPresent();
        if (cuda) {
            CUDA_ORDER.forEach(name -> lookups.addFirst(open(folder.folder().resolve(name))));
        }
        SymbolLookup all = lookups.stream().reduce(SymbolLookup::or).orElseThrow();
        return new Libraries(all, cuda, cuda && names.contains(COMPILER) ? compiler(folder) : Optional.empty());
    }

    /** Nothing is lost without it but speed. */
    private static Optional<SymbolLookup> compiler(LibtorchFolder folder) {
        try {
            return Optional.of(SymbolLookup.libraryLookup(folder.folder().resolve(COMPILER), Arena.global()))
                    .filter(lookup -> lookup.find("nvrtcCreateProgram").isPresent()
                            && lookup.find("cuLaunchKernel").isPresent());
        } catch (IllegalArgumentException absent) {
            return Optional.empty();
        }
    }

    /** A PyTorch with CUDA on a machine without a driver is used as one without: loading its libraries costs seconds. */
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
}
