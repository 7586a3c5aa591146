package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Collections;
import java.util.Objects;
import java.util.stream.Stream;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.NativeErrors;
import org.jspecify.annotations.Nullable;

/**
 * C functions of libtorch per device, {@code aoti_torch_cpu_*} and {@code aoti_torch_cuda_*}: operators with scalar and
 * list arguments, which the dispatcher of libtorch 2.7 does not accept.
 */
final class DeviceFunctions {
    private static final Linker LINKER = Linker.nativeLinker();

    final MethodHandle add;
    final MethodHandle addScalar;
    final MethodHandle mulScalar;
    final MethodHandle powScalar;
    final MethodHandle concat;
    final MethodHandle sumOfProducts;
    final MethodHandle addProducts;
    final MethodHandle convolution;
    final MethodHandle convolutionBackward;
    final MethodHandle maxPool;
    final MethodHandle maxPoolBackward;
    final MethodHandle averagePool;
    final MethodHandle averagePoolBackward;

    private static final class Cpu {
        static final DeviceFunctions FUNCTIONS = new DeviceFunctions("cpu");
    }

    private static final class Cuda {
        static final DeviceFunctions FUNCTIONS = new DeviceFunctions("cuda");
    }

    static DeviceFunctions of(Tensor tensor) {
        return tensor.device().kind() == Device.Kind.CPU ? Cpu.FUNCTIONS : Cuda.FUNCTIONS;
    }

    /** Returns the functions for two tensors, one of which may be a scalar on the CPU. */
    static DeviceFunctions of(Tensor a, Tensor b) {
        return of(a.device().kind() == Device.Kind.CPU ? b : a);
    }

    private DeviceFunctions(String device) {
        String prefix = "aoti_torch_" + device + "_";
        add = function(prefix + "add_Tensor", ADDRESS, ADDRESS, JAVA_DOUBLE, ADDRESS);
        addScalar = function(prefix + "add_Scalar", ADDRESS, JAVA_DOUBLE, JAVA_DOUBLE, ADDRESS);
        mulScalar = function(prefix + "mul_Scalar", ADDRESS, JAVA_DOUBLE, ADDRESS);
        powScalar = function(prefix + "pow_Tensor_Scalar", ADDRESS, JAVA_DOUBLE, ADDRESS);
        concat = function(prefix + "cat", ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS);
        sumOfProducts = function(prefix + "addbmm", ADDRESS, ADDRESS, ADDRESS, JAVA_DOUBLE, JAVA_DOUBLE, ADDRESS);
        addProducts = function(prefix + "baddbmm_out", ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_DOUBLE, JAVA_DOUBLE);
        MemoryLayout[] geometry = concat(lists(3), JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
        convolution = function(prefix + "convolution", concat(concat(tensors(3), geometry), ADDRESS));
        convolutionBackward = function(
                prefix + "convolution_backward",
                concat(concat(concat(tensors(4), JAVA_LONG), geometry), ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));
        maxPool = function(
                prefix + "max_pool2d_with_indices", concat(concat(tensors(1), lists(4)), JAVA_INT, ADDRESS, ADDRESS));
        maxPoolBackward = function(
                prefix + "max_pool2d_with_indices_backward",
                concat(concat(tensors(2), lists(4)), JAVA_INT, ADDRESS, ADDRESS));
        averagePool = function(
                prefix + "avg_pool2d", concat(concat(tensors(1), lists(3)), JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
        averagePoolBackward = function(
                prefix + "avg_pool2d_backward",
                concat(concat(tensors(2), lists(3)), JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));
    }

    /** Returns a function of libtorch that returns an error code. */
    static MethodHandle function(String name, MemoryLayout... arguments) {
        return LINKER.downcallHandle(Libtorch.load().symbol(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    static MemoryLayout[] tensors(int count) {
        return Collections.nCopies(count, (MemoryLayout) ADDRESS).toArray(MemoryLayout[]::new);
    }

    /** Returns the layouts of lists, each a pointer and a length. */
    private static MemoryLayout[] lists(int count) {
        return Stream.generate(() -> Stream.<MemoryLayout>of(ADDRESS, JAVA_LONG))
                .limit(count)
                .flatMap(list -> list)
                .toArray(MemoryLayout[]::new);
    }

    static MemoryLayout[] concat(MemoryLayout[] first, MemoryLayout... second) {
        return Stream.concat(Stream.of(first), Stream.of(second)).toArray(MemoryLayout[]::new);
    }

    /** Call with scratch memory; returns the error code. */
    @FunctionalInterface
    interface Call {
        int into(Arena arena, MemorySegment results) throws Throwable;
    }

    /** Runs a call that writes one handle; an error names the arguments. */
    static Tensor result(String operation, Call call, Tensor... arguments) {
        return Objects.requireNonNull(results(operation, 1, call, arguments)[0], operation);
    }

    /** Runs a call that writes several handles; null where it wrote none. */
    static @Nullable Tensor[] results(String operation, int count, Call call, Tensor... arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment words = arena.allocate(ADDRESS, count);
            if (call.into(arena, words) != 0) {
                throw NativeErrors.of(operation, (Object[]) arguments);
            }
            @Nullable Tensor[] tensors = new @Nullable Tensor[count];
            for (int i = 0; i < count; i++) {
                MemorySegment handle = words.getAtIndex(ADDRESS, i);
                tensors[i] = handle.equals(MemorySegment.NULL) ? null : new Tensor(handle);
            }
            return tensors;
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }
}
