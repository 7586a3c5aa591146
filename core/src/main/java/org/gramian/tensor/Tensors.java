package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.random.RandomGenerator;
import org.gramian.tensor.library.Libtorch;

/**
 * Creates tensors from numbers, memory, a random generator or other tensors.
 *
 * @since 0.1
 */
public final class Tensors {
    private static final class Operators {
        static final Operator WHERE = Operator.of("where", "self");
        static final Operator ZERO = Operator.of("zero_");
    }

    private Tensors() {}

    /** Creates a tensor with uninitialized elements. */
    public static Tensor empty(Shape shape, DType type, Device device) {
        Libtorch.load();
        return new Tensor(Native.empty(shape, shape.strides(), type, device));
    }

    /** Creates a tensor with uninitialized elements, with the type and device of another tensor. */
    public static Tensor empty(Shape shape, Tensor like) {
        return empty(shape, like.type(), like.device());
    }

    /** Creates a tensor with uninitialized elements, with the strides of another tensor. */
    public static Tensor emptyLike(Tensor other) {
        return new Tensor(Native.empty(other.shape(), other.strides(), other.type(), other.device()));
    }

    /** Creates feature maps {@code [batch, channels, height, width]} with uninitialized elements, channels last in memory. */
    public static Tensor emptyChannelsLast(Shape shape, DType type, Device device) {
        return new Tensor(Native.empty(shape, shape.channelsLastStrides(), type, device));
    }

    /**
     * Creates a CPU tensor from values in row-major order.
     *
     * @param values as many as the shape has elements
     * @throws IllegalArgumentException if the number of values differs
     */
    public static Tensor of(double[] values, Shape shape, DType type) {
        requireCount(values.length, shape);
        try (Scope scope = Scope.open()) {
            Tensor doubles = empty(shape, DType.F64, Device.CPU);
            MemorySegment.copy(values, 0, doubles.data(), JAVA_DOUBLE, 0, values.length);
            return scope.keep(doubles.to(type));
        }
    }

    /** Creates a CPU tensor of type I64 from values in row-major order. */
    public static Tensor ofLongs(long[] values, Shape shape) {
        requireCount(values.length, shape);
        Tensor tensor = empty(shape, DType.I64, Device.CPU);
        MemorySegment.copy(values, 0, tensor.data(), JAVA_LONG, 0, values.length);
        return tensor;
    }

    /**
     * Creates a CPU tensor from a copy of bytes.
     *
     * @param bytes elements in row-major order and native byte order
     */
    public static Tensor copyOf(MemorySegment bytes, DType type, Shape shape) {
        requireBytes(bytes, type, shape);
        Tensor tensor = empty(shape, type, Device.CPU);
        MemorySegment.copy(bytes, JAVA_BYTE, 0, tensor.data(), JAVA_BYTE, 0, bytes.byteSize());
        return tensor;
    }

    /**
     * Creates a tensor that views native memory without copying: writing to one changes the other.
     *
     * @param memory must stay alive as long as the tensor and its views, aligned to the size of an element
     */
    public static Tensor viewOf(MemorySegment memory, DType type, Shape shape) {
        requireBytes(memory, type, shape);
        if (!memory.isNative() || memory.address() % type.bytes() != 0) {
            throw new IllegalArgumentException("expected native memory aligned to " + type.bytes()
                    + " bytes for a view as " + type + shape + ", found " + memory);
        }
        Libtorch.load();
        return new Tensor(Native.blob(memory, shape, type), memory);
    }

    /** Creates a tensor of zeros. */
    public static Tensor zeros(Shape shape, DType type, Device device) {
        return Operators.ZERO.inPlace(empty(shape, type, device));
    }

    /** Creates a tensor with all elements equal to a value. */
    public static Tensor full(double value, Shape shape, DType type, Device device) {
        return empty(shape, type, device).fill(value);
    }

    /** Creates a CPU tensor of shape {@code []}, which combines with tensors of any device. */
    static Tensor number(double value, DType type) {
        if (type != DType.F32 && type != DType.F64) {
            return of(new double[] {value}, Shape.of(), type);
        }
        Tensor number = empty(Shape.of(), type, Device.CPU);
        if (type == DType.F32) {
            number.data().set(JAVA_FLOAT, 0, (float) value);
        } else {
            number.data().set(JAVA_DOUBLE, 0, value);
        }
        return number;
    }

    /**
     * Creates the identity matrix.
     *
     * @return {@code [size, size]}
     */
    public static Tensor identity(long size, DType type, Device device) {
        Tensor matrix = zeros(Shape.of(size, size), type, device);
        try (Scope _ = Scope.open()) {
            matrix.diagonal().fill(1);
        }
        return matrix;
    }

    /** Draws independent standard normal values on the CPU, in row-major order. */
    public static Tensor gaussian(RandomGenerator random, Shape shape, DType type) {
        return drawn(random::nextGaussian, shape, type);
    }

    /** Draws independent values on the CPU, uniform in {@code [low, high)}, in row-major order. */
    public static Tensor uniform(RandomGenerator random, double low, double high, Shape shape, DType type) {
        return drawn(() -> random.nextDouble(low, high), shape, type);
    }

    private static Tensor drawn(DoubleSupplier values, Shape shape, DType type) {
        try (Scope scope = Scope.open()) {
            Tensor doubles = empty(shape, DType.F64, Device.CPU);
            MemorySegment data = doubles.data();
            long elements = shape.elements();
            double[] some = new double[(int) Math.min(elements, 1 << 13)];
            for (long done = 0; done < elements; done += some.length) {
                int count = (int) Math.min(some.length, elements - done);
                for (int i = 0; i < count; i++) { // draws exactly count numbers
                    some[i] = values.getAsDouble();
                }
                MemorySegment.copy(some, 0, data, JAVA_DOUBLE, done * Double.BYTES, count);
            }
            return scope.keep(doubles.to(type));
        }
    }

    /** Selects {@code a} where the condition holds, a number elsewhere. */
    public static Tensor where(Tensor condition, Tensor a, double defaultValue) {
        requireCondition(condition);
        try (Scope scope = Scope.open()) {
            Tensor number = full(defaultValue, Shape.of(), a.type(), a.device()); // no copy, so it can be captured
            return scope.keep(Operators.WHERE.call(condition, a, number));
        }
    }

    /** Selects {@code a} where the condition holds, {@code b} elsewhere. */
    public static Tensor where(Tensor condition, Tensor a, Tensor b) {
        Checks.broadcastable("where", a, b);
        requireCondition(condition);
        return Operators.WHERE.call(condition, a, b);
    }

    private static void requireCondition(Tensor condition) {
        if (condition.type() != DType.BOOL) {
            throw new IllegalArgumentException("where: expected a boolean condition, found " + condition);
        }
    }

    /** Concatenates tensors along one dimension; the other sizes must be equal. */
    public static Tensor concat(List<Tensor> parts, int dimension) {
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("concat: expected at least one tensor, found none");
        }
        Tensor first = parts.getFirst();
        int along = first.shape().index(dimension);
        for (Tensor part : parts) {
            Checks.sameKind("concat", first, part);
            if (part.shape().rank() != first.shape().rank()
                    || !part.shape().with(along, 0).equals(first.shape().with(along, 0))) {
                throw Checks.mismatch(
                        "concat", first, part, "sizes other than of dimension " + along + " must be equal");
            }
        }
        return DeviceFunctions.result(
                "concat",
                (arena, out) -> {
                    MemorySegment handles = arena.allocate(ADDRESS, parts.size());
                    for (int i = 0; i < parts.size(); i++) {
                        handles.setAtIndex(ADDRESS, i, parts.get(i).handle());
                    }
                    return (int) DeviceFunctions.of(first)
                            .concat
                            .invokeExact(handles, (long) parts.size(), (long) along, out);
                },
                parts.toArray(Tensor[]::new));
    }

    private static void requireCount(long found, Shape shape) {
        if (found != shape.elements()) {
            throw new IllegalArgumentException(
                    "a tensor of shape " + shape + " has " + shape.elements() + " elements, found " + found);
        }
    }

    private static void requireBytes(MemorySegment bytes, DType type, Shape shape) {
        long wanted = Math.multiplyExact(shape.elements(), (long) type.bytes());
        if (bytes.byteSize() != wanted) {
            throw new IllegalArgumentException(
                    "a tensor " + type + shape + " has " + wanted + " bytes, found " + bytes.byteSize());
        }
    }
}
