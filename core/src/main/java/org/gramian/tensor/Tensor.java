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
 * A multi-dimensional array in native memory: a handle with a type, a shape and a device.
 *
 * <p>It is freed by {@link #close()} or by the {@link Scope} that owns it; use after that is an {@link
 * IllegalStateException}. One thread at a time may use a tensor.
 */
public final class Tensor implements AutoCloseable {
    private static final LongAdder LIVE = new LongAdder();

    private final DType type;
    private final Shape shape;
    private final long[] strides;
    private final Device device;
    /** Keeps foreign memory reachable for as long as a tensor looks at it. */
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

    /** Number of tensors not yet freed in this process; flat over training steps. */
    public static long live() {
        return LIVE.sum();
    }

    public DType type() {
        return type;
    }

    public Shape shape() {
        return shape;
    }

    public Device device() {
        return device;
    }

    /** Size of one dimension; negative numbers count from the end. */
    public long size(int dimension) {
        return shape.at(dimension);
    }

    long[] strides() {
        return strides.clone();
    }

    /** Whether the elements lie in row-major order without gaps. */
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

    /** Whether the elements lie without gaps, in whatever order of dimensions. */
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
     * The memory itself, for reading and writing in place; contiguous tensors on the processor only.
     *
     * <p>The segment must not be used after the tensor is freed.
     */
    public MemorySegment data() {
        if (device.kind() != Device.Kind.CPU || !isContiguous()) {
            throw new IllegalStateException("data: expected the memory of a contiguous tensor on cpu, found " + this
                    + " with strides " + Arrays.toString(strides));
        }
        return Native.data(handle()).reinterpret(shape.elements() * type.bytes());
    }

    /** The elements as doubles, row by row, from any device and any numeric type. */
    public double[] toDoubles() {
        return withHostCopy(DType.F64, t -> t.data().toArray(JAVA_DOUBLE));
    }

    /** The elements as floats, row by row, from any device and any numeric type. */
    public float[] toFloats() {
        return withHostCopy(DType.F32, t -> t.data().toArray(JAVA_FLOAT));
    }

    /** The elements as longs, row by row, from any device; fractions are cut off. */
    public long[] toLongs() {
        return withHostCopy(DType.I64, t -> t.data().toArray(JAVA_LONG));
    }

    /** The raw bytes, row by row, in the tensor's own type. */
    public byte[] toBytes() {
        return withHostCopy(type, t -> t.data().toArray(JAVA_BYTE));
    }

    /** The only element of a tensor of one element. */
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

    /** Overwrites this tensor's elements by those of a tensor of the same shape, converting type and device. */
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

    /** Type, shape and, off the processor, the device: {@code F32[3, 7, 12]}. */
    @Override
    public String toString() {
        return type + shape.toString() + (device.equals(Device.CPU) ? "" : " on " + device);
    }
}
