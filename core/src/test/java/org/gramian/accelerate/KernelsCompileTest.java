package org.gramian.accelerate;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.accelerate.FusedTokens.LayerNormKernels;
import org.gramian.tensor.Convolution;
import org.gramian.tensor.Shape;
import org.gramian.tensor.cuda.CudaProgram;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * NVRTC compiles every CUDA program, which needs no GPU. {@code scripts/check-kernels} fetches NVRTC and runs this; its folder is in
 * the environment variable GRAMIAN_NVRTC.
 */
@EnabledIfEnvironmentVariable(named = "GRAMIAN_NVRTC", matches = ".+")
class KernelsCompileTest {
    /** Compute capabilities times 10, from Turing to Blackwell. */
    private static final List<Integer> GPUS = List.of(75, 80, 90, 100, 120);

    /** From Ampere on, tensor cores multiply bfloat16. */
    private static final int AMPERE = 80;

    /** Programs that need macros. */
    private static final Set<String> WITH_MACROS = Set.of("stem.cu", "depthwise.cu", "layernorm.cu");

    private record Program(String name, String source, int oldest) {
        static Program of(String name, CudaProgram program) {
            return new Program(name, program.source(), 0);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Program> programs() throws IOException {
        Stream<Program> stems = Stream.of(Shape.of(64, 3, 3, 3), Shape.of(32, 3, 3, 3), Shape.of(64, 4, 7, 7))
                .flatMap(filters -> Stream.of(1, 2).map(stride -> {
                    StemKernels.Variant variant = new StemKernels.Variant(new Convolution(stride, 1, 1), filters);
                    return new Program(
                            "stem.cu of " + variant, variant.program().source(), AMPERE);
                }));
        Stream<Program> depthwise = IntStream.rangeClosed(3, 7)
                .boxed()
                .flatMap(window -> Stream.of(1, 2).map(stride -> {
                    DepthwiseKernels.Variant variant = new DepthwiseKernels.Variant(window, stride, window / 2);
                    return Program.of("depthwise.cu of " + variant, variant.program());
                }));
        Stream<Program> norms = Stream.of(1, 3, 8)
                .map(vectors -> Program.of("layernorm.cu of " + vectors, LayerNormKernels.program(vectors)));
        return Stream.of(stems, depthwise, norms, withoutMacros()).flatMap(each -> each);
    }

    private static Stream<Program> withoutMacros() throws IOException {
        Path root = Path.of("src/main/resources");
        try (Stream<Path> files = Files.walk(root)) {
            return files
                    .filter(file -> file.toString().endsWith(".cu"))
                    .filter(file -> !WITH_MACROS.contains(file.getFileName().toString()))
                    .map(file -> {
                        String name = "/" + root.relativize(file);
                        return Program.of(name, CudaProgram.of(KernelsCompileTest.class, name, Map.of()));
                    })
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("programs")
    void itCompilesForEveryGpu(Program program) throws Throwable {
        for (int gpu : GPUS) {
            if (gpu >= program.oldest) {
                assertThat(Nvrtc.messages(program.source, gpu)).as("sm_%d", gpu).isEmpty();
            }
        }
    }

    /** The compiler. */
    private static final class Nvrtc {
        private static final Path FOLDER = Path.of(System.getenv().getOrDefault("GRAMIAN_NVRTC", ""));
        private static final SymbolLookup LIBRARY = library();

        private static SymbolLookup library() {
            System.load(file("libnvrtc-builtins.so").toString()); // which the compiler opens by its name
            return SymbolLookup.libraryLookup(file("libnvrtc.so"), Arena.global());
        }

        private static Path file(String name) {
            try (Stream<Path> files = Files.list(FOLDER)) {
                return files.filter(each -> each.getFileName().toString().startsWith(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalStateException("no " + name + " in " + FOLDER))
                        .toAbsolutePath();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }

        private static int call(String function, Object... arguments) throws Throwable {
            MemoryLayout[] types = Stream.of(arguments)
                    .map(each -> (MemoryLayout) (each instanceof Integer ? JAVA_INT : ADDRESS))
                    .toArray(MemoryLayout[]::new);
            return (int) Linker.nativeLinker()
                    .downcallHandle(LIBRARY.findOrThrow("nvrtc" + function), FunctionDescriptor.of(JAVA_INT, types))
                    .invokeWithArguments(arguments);
        }

        /** Returns what the compiler reports, nothing if it succeeds. */
        static String messages(String source, int gpu) throws Throwable {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment none = MemorySegment.NULL;
                MemorySegment word = arena.allocate(ADDRESS);
                MemorySegment text = arena.allocateFrom(source);
                assertThat(call("CreateProgram", word, text, arena.allocateFrom("program.cu"), 0, none, none))
                        .isZero();
                MemorySegment program = word.get(ADDRESS, 0);
                MemorySegment option = arena.allocateFrom("--gpu-architecture=sm_" + gpu);
                int code = call("CompileProgram", program, 1, arena.allocateFrom(ADDRESS, option));
                MemorySegment size = arena.allocate(JAVA_LONG);
                assertThat(call("GetProgramLogSize", program, size)).isZero();
                MemorySegment log = arena.allocate(Math.max(1, size.get(JAVA_LONG, 0)));
                assertThat(call("GetProgramLog", program, log)).isZero();
                assertThat(call("DestroyProgram", word)).isZero();
                return code == 0 ? "" : "code " + code + ": " + log.getString(0);
            }
        }
    }
}
