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
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The C functions that libtorch has once per device, {@code aoti_torch_cpu_*} and {@code aoti_torch_cuda_*}: operators
 * with numbers and lists among their arguments, which the dispatcher of libtorch 2.7 does not carry.
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

    /** The functions for two tensors of which one may be a number on the processor. */
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

    private static MethodHandle function(String name, MemoryLayout... arguments) {
        return LINKER.downcallHandle(Libtorch.load().symbol(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static MemoryLayout[] tensors(int count) {
        return Collections.nCopies(count, (MemoryLayout) ADDRESS).toArray(MemoryLayout[]::new);
    }

    /** Lists of numbers, each a pointer and a length. */
    private static MemoryLayout[] lists(int count) {
        List<MemoryLayout> layouts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            layouts.add(ADDRESS);
            layouts.add(JAVA_LONG);
        }
        return layouts.toArray(MemoryLayout[]::new);
    }

    private static MemoryLayout[] concat(MemoryLayout[] first, MemoryLayout... second) {
        List<MemoryLayout> layouts = new ArrayList<>(List.of(first));
        layouts.addAll(List.of(second));
        return layouts.toArray(MemoryLayout[]::new);
    }

    /** A call with scratch memory; returns the function's code. */
    @FunctionalInterface
    interface Call {
        int into(Arena arena, MemorySegment results) throws Throwable;
    }

    /** Runs a call that writes one handle; the arguments are named if it fails. */
    static Tensor result(String operation, Call call, Tensor... arguments) {
        return Objects.requireNonNull(results(operation, 1, call, arguments)[0], operation);
    }

    /** Runs a call that writes several handles; where it wrote none, the answer is null. */
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
