package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Multi-dimensional array in native memory, with an element type, a shape and a device.
 *
 * <p>A tensor is freed by {@link #close()} or by the {@link Scope} that owns it; using it afterwards throws {@link
 * IllegalStateException}. A tensor is not thread-safe.
 */
public final class Tensor implements AutoCloseable {
    private static final LongAdder LIVE = new LongAdder();

    private final DType type;
    private final Shape shape;
    private final long[] strides;
    private final Device device;
    /** Keeps foreign memory reachable while this tensor views it. */
    final @Nullable MemorySegment anchor;

    private MemorySegment handle;

    @Nullable
    Scope owner;

    Tensor(MemorySegment handle, @Nullable MemorySegment anchor) {
        this.handle = handle;
        this.anchor = anchor;
        try {
            long rank = Native.rank(handle);
            this.shape = Shape.of(Native.sizes(handle, rank));
            this.strides = Native.strides(handle, rank);
            this.type = DType.ofCode(Native.type(handle));
            this.device = Native.device(handle);
        } catch (RuntimeException unknown) {
            Native.delete(handle);
            throw unknown;
        }
        LIVE.increment();
        Scope.register(this);
    }

    Tensor(MemorySegment handle) {
        this(handle, null);
    }

    /** Returns the number of tensors in this process that are not freed yet; constant over training steps. */
    public static long live() {
        return LIVE.sum();
    }

    /** Returns the element type. */
    public DType type() {
        return type;
    }

    /** Returns the shape. */
    public Shape shape() {
        return shape;
    }

    /** Returns the device that holds the elements. */
    public Device device() {
        return device;
    }

    /**
     * Returns the size of one dimension.
     *
     * @param dimension index of the dimension; negative values count from the end
     */
    public long size(int dimension) {
        return shape.at(dimension);
    }

    long[] strides() {
        return strides.clone();
    }

    /** Returns whether the elements are stored in row-major order without gaps. */
    public boolean isContiguous() {
        long step = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            if (shape.at(i) != 1) {
                if (strides[i] != step) {
                    return shape.elements() == 0;
                }
                step *= shape.at(i);
            }
        }
        return true;
    }

    /** Returns whether the elements are stored without gaps, in any order of dimensions. */
    boolean isDense() {
        int[] order = IntStream.range(0, strides.length)
                .boxed()
                .filter(i -> shape.at(i) != 1)
                .sorted(Comparator.comparingLong(i -> strides[i]))
                .mapToInt(i -> i)
                .toArray();
        long step = 1;
        for (int i : order) {
            if (strides[i] != step) {
                return shape.elements() == 0;
            }
            step *= shape.at(i);
        }
        return true;
    }

    MemorySegment handle() {
        if (handle.equals(MemorySegment.NULL)) {
            throw new IllegalStateException("this tensor " + this + " has been freed: it was used after its scope");
        }
        if (anchor != null && !anchor.scope().isAlive()) {
            throw new IllegalStateException("the memory that this tensor " + this + " views has been freed");
        }
        return handle;
    }

    /**
     * Returns the memory of a contiguous CPU tensor, for reading and writing in place.
     *
     * <p>The segment must not be used after the tensor is freed.
     *
     * @return {@code elements × bytes per element} bytes, row-major
     * @throws IllegalStateException if the tensor is not contiguous or not on the CPU
     */
    public MemorySegment data() {
        if (device.kind() != Device.Kind.CPU || !isContiguous()) {
            throw new IllegalStateException("data: expected the memory of a contiguous tensor on cpu, found " + this
                    + " with strides " + Arrays.toString(strides));
        }
        return Native.data(handle()).reinterpret(shape.elements() * type.bytes());
    }

    /** Returns the elements as doubles in row-major order, from any device and numeric type. */
    public double[] toDoubles() {
        return withHostCopy(DType.F64, t -> t.data().toArray(JAVA_DOUBLE));
    }

    /** Returns the elements as floats in row-major order, from any device and numeric type. */
    public float[] toFloats() {
        return withHostCopy(DType.F32, t -> t.data().toArray(JAVA_FLOAT));
    }

    /** Returns the elements as longs in row-major order, from any device; fractions are truncated. */
    public long[] toLongs() {
        return withHostCopy(DType.I64, t -> t.data().toArray(JAVA_LONG));
    }

    /** Returns the raw bytes in row-major order, in the tensor's own type. */
    public byte[] toBytes() {
        return withHostCopy(type, t -> t.data().toArray(JAVA_BYTE));
    }

    /**
     * Returns the element of a tensor with one element.
     *
     * @throws IllegalArgumentException if the tensor does not have exactly one element
     */
    public double item() {
        if (shape.elements() != 1) {
            throw new IllegalArgumentException("item: expected a tensor of one element, found " + this);
        }
        return toDoubles()[0];
    }

    private <R> R withHostCopy(DType wanted, Function<Tensor, R> reading) {
        try (Scope _ = Scope.open()) {
            return reading.apply(Views.contiguous(Tensors.to(Tensors.to(this, Device.CPU), wanted)));
        }
    }

    /**
     * Overwrites the elements with those of another tensor, converting type and device.
     *
     * @param source tensor of the same shape
     */
    public void copyFrom(Tensor source) {
        Checks.sameShape("copy", this, source);
        Native.copy(handle(), source.handle(), false);
    }

    @Override
    public void close() {
        if (!handle.equals(MemorySegment.NULL)) {
            MemorySegment freed = handle;
            handle = MemorySegment.NULL;
            Scope.detach(this);
            LIVE.decrement();
            Native.delete(freed);
        }
    }

    /** Returns type, shape and, unless it is the CPU, the device: {@code F32[3, 7, 12]}. */
    @Override
    public String toString() {
        return type + shape.toString() + (device.equals(Device.CPU) ? "" : " on " + device);
    }
}
