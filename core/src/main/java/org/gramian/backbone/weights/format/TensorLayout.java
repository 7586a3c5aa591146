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
 * Strided layout of a tensor: element {@code (i₀, i₁, …)} has the index {@code offset + Σ iₖ·strideₖ} in memory.
 *
 * @param offset index of the first element
 * @param sizes sizes of the dimensions
 * @param strides strides in elements, not negative
 */
public record TensorLayout(long offset, List<Long> sizes, List<Long> strides) {
    /** Elements of four bytes in a cache line, which are copied together. */
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

    /** Returns the shape; throws {@link IllegalArgumentException} if it is too large. */
    public Shape shape() {
        return Shape.of(sizes.stream().mapToLong(Long::longValue).toArray());
    }

    /** Returns the largest index plus 1, or 0 without elements; throws {@link ArithmeticException} on overflow. */
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

    /** Returns whether the elements are contiguous in row-major order. */
    boolean isRowMajor() {
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
     * Returns the tensor: a view of the memory if it is contiguous, else a copy in the arena.
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

    /** Returns the dimensions in loop order: the one with the smallest stride last, for reads of whole cache lines. */
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
        // split into lines: the outermost loop goes from line to line, the innermost along one
        Axis inner = axes.remove(closest);
        axes.addFirst(new Axis(Math.ceilDiv(inner.size(), LINE), inner.from() * LINE, inner.to() * LINE));
        axes.addLast(inner);
        return axes;
    }

    /** Size of a dimension and its strides in the source and in the copy. */
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
