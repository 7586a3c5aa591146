package org.gramian.tensor.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.library.Cuda;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.LibtorchException;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * CUDA C++ kernels from a resource beside the class that uses them, compiled by NVRTC on first use. A kernel fuses
 * operators: it makes one pass over memory where libtorch's operators make several.
 */
public final class CudaProgram {
    /** {@code cudaDevAttrComputeCapabilityMajor}; the minor version is the next attribute. */
    private static final int COMPUTE_CAPABILITY_MAJOR = 75;

    private static final int MAX_ARGUMENTS = 24;

    private final String name;
    private final String source;
    /** CUmodule by device index. */
    private final Map<Integer, MemorySegment> modules = new ConcurrentHashMap<>();
    /** CUfunction by {@code kernel@device}. */
    private final Map<String, MemorySegment> kernels = new ConcurrentHashMap<>();

    private CudaProgram(String name, String source) {
        this.name = name;
        this.source = source;
    }

    /**
     * Reads a program.
     *
     * @param macros preprocessor macros, which come first; the functions of {@code bfloat16.cuh} and {@code warp.cuh} follow
     */
    public static CudaProgram of(Class<?> owner, String resource, Map<String, Integer> macros) {
        StringBuilder source = new StringBuilder();
        new TreeMap<>(macros).forEach((name, value) -> source.append("#define %s %d\n".formatted(name, value)));
        source.append(text(CudaProgram.class, "bfloat16.cuh"))
                .append(text(CudaProgram.class, "warp.cuh"))
                .append("#line 1 \"%s\"\n".formatted(resource)) // messages of the compiler name lines of the resource
                .append(text(owner, resource));
        return new CudaProgram(resource, source.toString());
    }

    public String source() {
        return source;
    }

    private static String text(Class<?> owner, String resource) {
        try (InputStream in = owner.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalArgumentException("missing " + resource + " next to " + owner);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** Returns whether kernels can be used for a tensor: float32, contiguous, on a CUDA GPU, with kernels enabled. */
    public static boolean isSupported(Tensor tensor) {
        return tensor.device().kind() == Device.Kind.CUDA
                && tensor.type() == DType.F32
                && tensor.isContiguous()
                && isAvailable();
    }

    /** Returns whether NVRTC is installed and kernels are not disabled. */
    public static boolean isAvailable() {
        return Availability.PRESENT;
    }

    /** Returns whether a tensor begins at a multiple of 16 bytes, the largest access to memory. */
    public static boolean isAligned(Tensor tensor) {
        return tensor.address() % 16 == 0;
    }

    /** Returns whether a GPU has tensor cores for bfloat16: from compute capability 8.0 on. */
    public static boolean hasBfloat16TensorCores(Device device) {
        return computeCapability(device) >= 80;
    }

    /** Returns the compute capability of a GPU times 10, such as 90 for 9.0. */
    private static int computeCapability(Device device) {
        try {
            return 10 * attribute(COMPUTE_CAPABILITY_MAJOR, device.index())
                    + attribute(COMPUTE_CAPABILITY_MAJOR + 1, device.index());
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static final class Availability {
        static final boolean PRESENT = Libtorch.load().compiler().isPresent();
    }

    /**
     * Launch configuration of a kernel: grid and block dimensions.
     *
     * @param x blocks in the first dimension
     * @param y blocks in the second dimension
     * @param z blocks in the third dimension
     * @param across threads of a block in the first dimension
     * @param down threads of a block in the second dimension
     */
    public record LaunchConfig(int x, int y, int z, int across, int down) {
        /** Returns blocks of 256 threads with one thread per element. */
        public static LaunchConfig over(long elements) {
            return new LaunchConfig(Math.toIntExact(Math.ceilDiv(elements, 256L)), 1, 1, 256, 1);
        }

        /** Returns at most {@code most} blocks of 256 threads, for kernels with a grid-stride loop. */
        public static LaunchConfig over(long elements, int most) {
            return new LaunchConfig(Math.clamp(Math.ceilDiv(elements, 256L), 1, most), 1, 1, 256, 1);
        }
    }

    /**
     * Launches a kernel on the current stream.
     *
     * @param arguments dense tensors (no gaps, any dimension order) or null pointers, numbers and structs. The first must be a tensor, whose device is used. {@code Long}, {@code Integer}, {@code Float} and {@code Double} are passed as {@code long long}, {@code int}, {@code float} and {@code double}; a {@link Struct} is passed by value
     */
    public void launch(String kernel, LaunchConfig config, @Nullable Object... arguments) {
        Device device = ((Tensor) Objects.requireNonNull(arguments[0])).device();
        MemorySegment function = kernels.computeIfAbsent(
                kernel + "@" + device.index(),
                _ -> function(kernel, modules.computeIfAbsent(device.index(), this::load)));
        if (arguments.length > MAX_ARGUMENTS) {
            throw new IllegalArgumentException(
                    kernel + ": expected at most " + MAX_ARGUMENTS + " arguments, found " + arguments.length);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(JAVA_LONG, MAX_ARGUMENTS);
            MemorySegment pointers = arena.allocate(ADDRESS, MAX_ARGUMENTS);
            for (int i = 0; i < arguments.length; i++) {
                if (arguments[i] instanceof Struct struct) {
                    pointers.setAtIndex(ADDRESS, i, struct.memory);
                } else {
                    write(kernel, values, 8L * i, arguments[i]);
                    pointers.setAtIndex(ADDRESS, i, values.asSlice(8L * i, 8));
                }
            }
            NativeErrors.check(
                    (int) Cuda.Compiler.LAUNCH.invokeExact(
                            function,
                            config.x,
                            config.y,
                            config.z,
                            config.across,
                            config.down,
                            1,
                            0,
                            Cuda.currentStream(device.index()),
                            pointers,
                            MemorySegment.NULL),
                    kernel);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        } finally {
            Reference.reachabilityFence(arguments);
        }
    }

    /**
     * Struct argument of a kernel, passed by value. A launch copies it, so a CUDA graph replays the values that it had
     * during capture.
     */
    public static final class Struct {
        /** Maximum size in bytes: that of all kernel arguments together on every GPU and CUDA version. */
        public static final int LARGEST = 4096;

        private final MemorySegment memory;

        public Struct(int bytes) {
            if (bytes < 1 || bytes > LARGEST) {
                throw new IllegalArgumentException("expected a struct of 1 to " + LARGEST + " bytes, found " + bytes);
            }
            memory = Arena.ofAuto().allocate(bytes, 8);
        }

        /**
         * Sets a field.
         *
         * @param offset offset in bytes, a multiple of the size of the value
         * @param value a number, a null pointer, or a tensor whose address is stored: it must live until the kernel has finished
         */
        public void set(int offset, @Nullable Object value) {
            write("struct", memory, offset, value);
        }
    }

    private static void write(String kernel, MemorySegment memory, long offset, @Nullable Object argument) {
        switch (argument) {
            case null -> memory.set(JAVA_LONG, offset, 0L);
            case Tensor tensor -> {
                if (!tensor.isDense()) {
                    throw new IllegalArgumentException(kernel + ": expected dense tensors (no gaps), found " + tensor);
                }
                memory.set(JAVA_LONG, offset, tensor.address());
            }
            case Long number -> memory.set(JAVA_LONG, offset, number);
            case Integer number -> memory.set(JAVA_INT, offset, number);
            case Float number -> memory.set(JAVA_FLOAT, offset, number);
            case Double number -> memory.set(JAVA_DOUBLE, offset, number);
            default ->
                throw new IllegalArgumentException(
                        kernel + ": expected a tensor, a number or a struct, found a " + argument.getClass());
        }
    }

    private MemorySegment function(String kernel, MemorySegment module) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocateFrom(kernel);
            return Cuda.pointer("kernel " + kernel + " of " + name, word ->
                    (int) Cuda.Compiler.FIND.invokeExact(word, module, text));
        }
    }

    /** Compiles the program for the compute capability of a GPU and loads it as a module. */
    private MemorySegment load(int index) {
        try (Arena arena = Arena.ofConfined()) {
            NativeErrors.check((int) Cuda.SET_DEVICE.invokeExact(index), "selection of the GPU");
            MemorySegment program = Cuda.pointer(name, word -> (int) Cuda.Compiler.CREATE.invokeExact(
                    word,
                    arena.allocateFrom(source),
                    arena.allocateFrom(name),
                    0,
                    MemorySegment.NULL,
                    MemorySegment.NULL));
            MemorySegment options = arena.allocate(ADDRESS);
            options.set(
                    ADDRESS,
                    0,
                    arena.allocateFrom("--gpu-architecture=sm_" + attribute(COMPUTE_CAPABILITY_MAJOR, index)
                            + attribute(COMPUTE_CAPABILITY_MAJOR + 1, index)));
            int code = (int) Cuda.Compiler.COMPILE.invokeExact(program, 1, options);
            if (code != 0) {
                throw new LibtorchException(name + " cannot be compiled for this GPU; set"
                        + " GRAMIAN_ACCELERATE=off to do without own kernels. Compiler output: " + log(program));
            }
            MemorySegment size = arena.allocate(JAVA_LONG);
            NativeErrors.check((int) Cuda.Compiler.SIZE.invokeExact(program, size), name);
            MemorySegment binary = arena.allocate(size.get(JAVA_LONG, 0), 64);
            NativeErrors.check((int) Cuda.Compiler.CODE.invokeExact(program, binary), name);
            MemorySegment module =
                    Cuda.pointer("loading of " + name, word -> (int) Cuda.Compiler.LOAD.invokeExact(word, binary));
            MemorySegment handle = arena.allocate(ADDRESS);
            handle.set(ADDRESS, 0, program);
            NativeErrors.check((int) Cuda.Compiler.DESTROY.invokeExact(handle), name);
            return module;
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static int attribute(int attribute, int index) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(JAVA_INT);
            NativeErrors.check(
                    (int) Cuda.ATTRIBUTE.invokeExact(word, attribute, index), "query of the compute capability");
            return word.get(JAVA_INT, 0);
        }
    }

    private static String log(MemorySegment program) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment size = arena.allocate(JAVA_LONG);
            NativeErrors.check((int) Cuda.Compiler.LOG_SIZE.invokeExact(program, size), "compilation");
            MemorySegment text = arena.allocate(Math.max(1, size.get(JAVA_LONG, 0)));
            NativeErrors.check((int) Cuda.Compiler.LOG.invokeExact(program, text), "compilation");
            return text.getString(0);
        }
    }
}
