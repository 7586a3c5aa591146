package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.random.RandomGenerator;

/** Makes tensors: from numbers, from memory, from a random generator, or by converting type and device. */
public final class Tensors {
    private static final class Operators {
        static final Operator CLONE = Operator.of("clone");
        static final Operator CONVERT = Operator.of("_to_copy");
        static final Operator FILL = Operator.of("fill_", "Tensor");
        static final Operator ZERO = Operator.of("zero_");
    }

    private Tensors() {}

    /** A tensor whose elements are not set. */
    public static Tensor empty(Shape shape, DType type, Device device) {
        Libtorch.load();
        return new Tensor(Native.empty(shape, shape.strides(), type, device));
    }

    /** A tensor of another's type and device whose elements are not set. */
    public static Tensor empty(Shape shape, Tensor like) {
        return empty(shape, like.type(), like.device());
    }

    /** A tensor whose elements are not set, which lies in memory as another one does. */
    static Tensor emptyLike(Tensor other) {
        return new Tensor(Native.empty(other.shape(), other.strides(), other.type(), other.device()));
    }

    /** Maps {@code [n, c, h, w]} whose channels lie next to each other and whose elements are not set. */
    static Tensor emptyChannelsLast(Shape shape, DType type, Device device) {
        return new Tensor(Native.empty(shape, Views.channelsLastStrides(shape), type, device));
    }

    /** A tensor on the processor holding the given values row by row. */
    public static Tensor of(double[] values, Shape shape, DType type) {
        requireCount(values.length, shape);
        try (Scope scope = Scope.open()) {
            Tensor doubles = empty(shape, DType.F64, Device.CPU);
            MemorySegment.copy(values, 0, doubles.data(), JAVA_DOUBLE, 0, values.length);
            return scope.keep(to(doubles, type));
        }
    }

    /** Integers on the processor, row by row. */
    public static Tensor ofLongs(long[] values, Shape shape) {
        requireCount(values.length, shape);
        Tensor tensor = empty(shape, DType.I64, Device.CPU);
        MemorySegment.copy(values, 0, tensor.data(), JAVA_LONG, 0, values.length);
        return tensor;
    }

    /** A copy on the processor of elements given as bytes, row by row, in the machine's byte order. */
    public static Tensor copyOf(MemorySegment bytes, DType type, Shape shape) {
        requireBytes(bytes, type, shape);
        Tensor tensor = empty(shape, type, Device.CPU);
        MemorySegment.copy(bytes, JAVA_BYTE, 0, tensor.data(), JAVA_BYTE, 0, bytes.byteSize());
        return tensor;
    }

    /**
     * A tensor that looks at native memory without copying: writing to one changes the other.
     *
     * <p>The segment must stay alive for as long as the tensor and its views are used, and its address must be a
     * multiple of the element's size.
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

    /** All zeros. */
    public static Tensor zeros(Shape shape, DType type, Device device) {
        return Operators.ZERO.inPlace(empty(shape, type, device));
    }

    /** All elements equal. */
    public static Tensor full(double value, Shape shape, DType type, Device device) {
        return fill(empty(shape, type, device), value);
    }

    /** Sets all elements of an existing tensor or view to one value. */
    public static Tensor fill(Tensor target, double value) {
        try (Scope _ = Scope.open()) {
            return Operators.FILL.inPlace(target, number(value, target.type()));
        }
    }

    /** A single number on the processor, which goes with tensors of any device. */
    static Tensor number(double value, DType type) {
        return of(new double[] {value}, Shape.of(), type);
    }

    /** The identity matrix of the given size. */
    public static Tensor identity(long size, DType type, Device device) {
        Tensor matrix = zeros(Shape.of(size, size), type, device);
        try (Scope _ = Scope.open()) {
            fill(Views.diagonal(matrix), 1);
        }
        return matrix;
    }

    /** Independent standard normal values on the processor, drawn row by row. */
    public static Tensor gaussian(RandomGenerator random, Shape shape, DType type) {
        return drawn(random::nextGaussian, shape, type);
    }

    /** Independent values on the processor, uniform between the bounds, drawn row by row. */
    public static Tensor uniform(RandomGenerator random, double low, double high, Shape shape, DType type) {
        return drawn(() -> random.nextDouble(low, high), shape, type);
    }

    private static Tensor drawn(DoubleSupplier values, Shape shape, DType type) {
        try (Scope scope = Scope.open()) {
            Tensor doubles = empty(shape, DType.F64, Device.CPU);
            MemorySegment data = doubles.data();
            for (long i = 0; i < shape.elements(); i++) {
                data.setAtIndex(JAVA_DOUBLE, i, values.getAsDouble());
            }
            return scope.keep(to(doubles, type));
        }
    }

    /** The same elements in another type; the tensor itself where it has that type already. */
    public static Tensor to(Tensor source, DType type) {
        return source.type() == type
                ? source
                : Operators.CONVERT.call(source, Optional.of((long) type.code()), null, null, null, false, null);
    }

    /** The same elements on another device; the tensor itself where it lies there already. */
    public static Tensor to(Tensor source, Device device) {
        if (source.device().equals(device)) {
            return source;
        }
        try (Scope scope = Scope.open()) {
            Tensor target = empty(source.shape(), source.type(), device);
            target.copyFrom(source);
            return scope.keep(target);
        }
    }

    /** An independent copy. */
    public static Tensor copy(Tensor source) {
        return Operators.CLONE.call(source, (Object) null);
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
