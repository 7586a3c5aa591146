package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.random.RandomGenerator;
import org.gramian.tensor.library.Libtorch;

/** Creates tensors from numbers, memory or a random generator, and converts type and device. */
public final class Tensors {
    private static final class Operators {
        static final Operator CLONE = Operator.of("clone");
        static final Operator CONVERT = Operator.of("_to_copy");
        static final Operator FILL = Operator.of("fill_", "Tensor");
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
    static Tensor emptyLike(Tensor other) {
        return new Tensor(Native.empty(other.shape(), other.strides(), other.type(), other.device()));
    }

    /**
     * Creates feature maps {@code [batch, channels, height, width]} with uninitialized elements, channels last in
     * memory.
     */
    static Tensor emptyChannelsLast(Shape shape, DType type, Device device) {
        return new Tensor(Native.empty(shape, Views.channelsLastStrides(shape), type, device));
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
            return scope.keep(to(doubles, type));
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
        return fill(empty(shape, type, device), value);
    }

    /** Sets all elements of a tensor or view to a value and returns it. */
    public static Tensor fill(Tensor target, double value) {
        try (Scope _ = Scope.open()) {
            return Operators.FILL.inPlace(target, number(value, target.type()));
        }
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
            fill(Views.diagonal(matrix), 1);
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
            for (long i = 0; i < shape.elements(); i++) {
                data.setAtIndex(JAVA_DOUBLE, i, values.getAsDouble());
            }
            return scope.keep(to(doubles, type));
        }
    }

    /** Converts a tensor to a type; returns the tensor itself if it has that type. */
    public static Tensor to(Tensor source, DType type) {
        return source.type() == type
                ? source
                : Operators.CONVERT.call(source, Optional.of((long) type.code()), null, null, null, false, null);
    }

    /** Converts tensors to a type, float32 tensors of a GPU to {@link DType#BF16} in one pass over memory. */
    public static List<Tensor> to(List<Tensor> sources, DType type) {
        Optional<List<Tensor>> rounded = type == DType.BF16 ? Elementwise.rounded(sources) : Optional.empty();
        return rounded.orElseGet(
                () -> sources.stream().map(source -> to(source, type)).toList());
    }

    /** Copies a tensor to a device; returns the tensor itself if it is there. */
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

    /** Returns an independent copy. */
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
