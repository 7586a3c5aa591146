package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.StoredTensor;

/**
 * Where the elements of a tensor lie in memory that need not hold them in row-major order: element
 * {@code (i₀, i₁, …)} is number {@code offset + Σ iₖ·strideₖ}.
 *
 * @param offset number of the first element
 * @param sizes of the tensor's dimensions
 * @param strides elements from one index to the next, for each dimension; not negative
 */
public record TensorLayout(long offset, List<Long> sizes, List<Long> strides) {
    /** Neighbours that are copied together: one line of a processor's cache, in elements of four bytes. */
    private static final int LINE = 16;

    /** @throws IllegalArgumentException if a number is negative, or sizes and strides are not equally many */
    public TensorLayout {
        sizes = List.copyOf(sizes);
        strides = List.copyOf(strides);
        if (sizes.size() != strides.size()) {
            throw new IllegalArgumentException(
                    "expected a stride for each size, found sizes " + sizes + " and strides " + strides);
        }
        if (offset < 0
                || sizes.stream().anyMatch(size -> size < 0)
                || strides.stream().anyMatch(step -> step < 0)) {
            throw new IllegalArgumentException("expected no negative numbers, found offset " + offset + ", sizes "
                    + sizes + " and strides " + strides);
        }
    }

    /** The sizes as a shape; an {@link IllegalArgumentException} if they are too large for one. */
    public Shape shape() {
        return Shape.of(sizes.stream().mapToLong(Long::longValue).toArray());
    }

    /** One more than the greatest element number, zero for no elements; an {@link ArithmeticException} if beyond a long. */
    public long end() {
        long last = offset;
        for (int i = 0; i < sizes.size(); i++) {
            if (sizes.get(i) == 0) {
                return 0;
            }
            last = Math.addExact(last, Math.multiplyExact(sizes.get(i) - 1, strides.get(i)));
        }
        return Math.addExact(last, 1);
    }

    /** Whether the elements lie in row-major order with nothing between them. */
    public boolean isRowMajor() {
        long step = 1;
        for (int i = sizes.size() - 1; i >= 0; i--) {
            if (sizes.get(i) > 1 && strides.get(i) != step) {
                return false;
            }
            step *= Math.max(1, sizes.get(i));
        }
        return true;
    }

    /**
     * The tensor: a window on the memory where that is in row-major order already, else a copy in the arena.
     *
     * @throws IndexOutOfBoundsException if elements lie outside the memory
     */
    public StoredTensor take(DType type, MemorySegment memory, Arena arena) {
        Shape shape = shape();
        int width = type.bytes();
        if (shape.elements() == 0 || isRowMajor()) {
            long start = shape.elements() == 0 ? 0 : offset * width;
            return new StoredTensor(type, shape, memory.asSlice(start, shape.elements() * width));
        }
        MemorySegment copy = arena.allocate(shape.elements() * width, width);
        Copying copying = new Copying(memory, copy, width, axes());
        copying.from(0, offset, 0);
        return new StoredTensor(type, shape, copy.asReadOnly());
    }

    /** The dimensions as they are walked: the one whose elements lie closest comes last, for reads in whole lines. */
    private List<Axis> axes() {
        List<Axis> axes = new ArrayList<>();
        long step = 1;
        for (int i = sizes.size() - 1; i >= 0; i--) {
            if (sizes.get(i) > 1) {
                axes.addFirst(new Axis(sizes.get(i), strides.get(i), step));
            }
            step *= sizes.get(i);
        }
        int closest = 0;
        for (int i = 1; i < axes.size(); i++) {
            if (axes.get(i).from() <= axes.get(closest).from()) {
                closest = i;
            }
        }
        // Split into lines: the outermost loop goes from line to line, the innermost along one.
        Axis inner = axes.remove(closest);
        axes.addFirst(new Axis(Math.ceilDiv(inner.size(), LINE), inner.from() * LINE, inner.to() * LINE));
        axes.addLast(inner);
        return axes;
    }

    /** A dimension: its size, and the steps in the source and in the copy. */
    private record Axis(long size, long from, long to) {}

    private record Copying(MemorySegment source, MemorySegment target, int width, List<Axis> axes) {
        void from(int depth, long from, long to) {
            from(depth, from, to, LINE);
        }

        private void from(int depth, long from, long to, long line) {
            Axis axis = axes.get(depth);
            if (depth == axes.size() - 1) {
                copyLine(axis, from, to, line);
                return;
            }
            for (long i = 0; i < axis.size; i++) {
                long left = depth == 0 ? Math.min(LINE, axes.getLast().size - i * LINE) : line;
                from(depth + 1, from + i * axis.from, to + i * axis.to, left);
            }
        }

        private void copyLine(Axis axis, long from, long to, long count) {
            for (long i = 0; i < count; i++) {
                long read = (from + i * axis.from) * width;
                long write = (to + i * axis.to) * width;
                switch (width) {
                    case 1 -> target.set(ValueLayout.JAVA_BYTE, write, source.get(ValueLayout.JAVA_BYTE, read));
                    case 2 ->
                        target.set(
                                ValueLayout.JAVA_SHORT_UNALIGNED,
                                write,
                                source.get(ValueLayout.JAVA_SHORT_UNALIGNED, read));
                    case 4 ->
                        target.set(
                                ValueLayout.JAVA_INT_UNALIGNED,
                                write,
                                source.get(ValueLayout.JAVA_INT_UNALIGNED, read));
                    default ->
                        target.set(
                                ValueLayout.JAVA_LONG_UNALIGNED,
                                write,
                                source.get(ValueLayout.JAVA_LONG_UNALIGNED, read));
                }
            }
        }
    }
}
