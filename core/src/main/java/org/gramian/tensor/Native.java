package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.NativeErrors;

/**
 * Version-independent functions of libtorch's C ABI on tensor handles.
 *
 * <p>Handles are constants, so that the JIT compiler can inline the call: this class is touched only after {@link
 * Libtorch#load()} has succeeded.
 */
final class Native {
    private static final Linker LINKER = Linker.nativeLinker();

    private static final MethodHandle DELETE = function("aoti_torch_delete_tensor_object", ADDRESS);
    private static final MethodHandle DUPLICATE = function("aoti_torch_new_tensor_handle", ADDRESS, ADDRESS);
    private static final MethodHandle RANK = function("aoti_torch_get_dim", ADDRESS, ADDRESS);
    private static final MethodHandle SIZES = function("aoti_torch_get_sizes", ADDRESS, ADDRESS);
    private static final MethodHandle STRIDES = function("aoti_torch_get_strides", ADDRESS, ADDRESS);
    private static final MethodHandle TYPE = function("aoti_torch_get_dtype", ADDRESS, ADDRESS);
    private static final MethodHandle DEVICE_KIND = function("aoti_torch_get_device_type", ADDRESS, ADDRESS);
    private static final MethodHandle DEVICE_INDEX = function("aoti_torch_get_device_index", ADDRESS, ADDRESS);
    private static final MethodHandle DATA = function("aoti_torch_get_data_ptr", ADDRESS, ADDRESS);
    private static final MethodHandle COPY = function("aoti_torch_copy_", ADDRESS, ADDRESS, JAVA_INT);
    private static final MethodHandle EMPTY =
            function("aoti_torch_empty_strided", JAVA_LONG, ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle VIEW =
            function("aoti_torch__reinterpret_tensor", ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    private static final MethodHandle BLOB = function(
            "aoti_torch_create_tensor_from_blob",
            ADDRESS,
            JAVA_LONG,
            ADDRESS,
            ADDRESS,
            JAVA_LONG,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            ADDRESS);

    /** One word of scratch per thread, for out-parameters. */
    private static final ThreadLocal<MemorySegment> WORD =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(ADDRESS));

    private Native() {}

    private static MethodHandle function(String name, MemoryLayout... arguments) {
        return LINKER.downcallHandle(Libtorch.load().symbol(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    static void delete(MemorySegment tensor) {
        try {
            NativeErrors.check((int) DELETE.invokeExact(tensor), "delete");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    static MemorySegment duplicate(MemorySegment tensor) {
        return pointer(DUPLICATE, tensor, "duplicate");
    }

    static MemorySegment data(MemorySegment tensor) {
        return pointer(DATA, tensor, "data");
    }

    static long rank(MemorySegment tensor) {
        return number(RANK, tensor, "rank");
    }

    static long[] sizes(MemorySegment tensor, long rank) {
        return rank == 0
                ? new long[0]
                : pointer(SIZES, tensor, "sizes").reinterpret(rank * 8).toArray(JAVA_LONG);
    }

    static long[] strides(MemorySegment tensor, long rank) {
        return rank == 0
                ? new long[0]
                : pointer(STRIDES, tensor, "strides").reinterpret(rank * 8).toArray(JAVA_LONG);
    }

    static int type(MemorySegment tensor) {
        return (int) number(TYPE, tensor, "dtype");
    }

    static Device device(MemorySegment tensor) {
        if ((int) number(DEVICE_KIND, tensor, "device") == Device.Kind.CPU.code()) {
            return Device.CPU;
        }
        return Device.cuda((int) number(DEVICE_INDEX, tensor, "device"));
    }

    static void copy(MemorySegment target, MemorySegment source, boolean nonBlocking) {
        try {
            NativeErrors.check((int) COPY.invokeExact(target, source, nonBlocking ? 1 : 0), "copy");
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    static MemorySegment empty(Shape shape, long[] steps, DType type, Device device) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = WORD.get();
            MemorySegment sizes = arena.allocateFrom(JAVA_LONG, shape.sizes());
            MemorySegment strides = arena.allocateFrom(JAVA_LONG, steps);
            int kind = device.kind().code();
            NativeErrors.check(
                    (int) EMPTY.invokeExact(
                            (long) shape.rank(), sizes, strides, type.code(), kind, device.index(), word),
                    "allocation of " + type + shape + " on " + device);
            return word.get(ADDRESS, 0);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    static MemorySegment view(MemorySegment tensor, long[] sizes, long[] strides, long offset) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = WORD.get();
            MemorySegment sizesAt = arena.allocateFrom(JAVA_LONG, sizes);
            MemorySegment stridesAt = arena.allocateFrom(JAVA_LONG, strides);
            NativeErrors.check(
                    (int) VIEW.invokeExact(tensor, (long) sizes.length, sizesAt, stridesAt, offset, word),
                    "view as " + Shape.of(sizes));
            return word.get(ADDRESS, 0);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    static MemorySegment blob(MemorySegment data, Shape shape, DType type) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = WORD.get();
            MemorySegment sizes = arena.allocateFrom(JAVA_LONG, shape.sizes());
            MemorySegment strides = arena.allocateFrom(JAVA_LONG, shape.strides());
            NativeErrors.check(
                    (int) BLOB.invokeExact(data, (long) shape.rank(), sizes, strides, 0L, type.code(), 0, 0, word),
                    "view of memory as " + type + shape);
            return word.get(ADDRESS, 0);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static MemorySegment pointer(MethodHandle function, MemorySegment tensor, String operation) {
        try {
            MemorySegment word = WORD.get();
            NativeErrors.check((int) function.invokeExact(tensor, word), operation);
            return word.get(ADDRESS, 0);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static long number(MethodHandle function, MemorySegment tensor, String operation) {
        try {
            MemorySegment word = WORD.get();
            word.set(JAVA_LONG, 0, 0);
            NativeErrors.check((int) function.invokeExact(tensor, word), operation);
            return word.get(JAVA_LONG, 0);
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }
}
