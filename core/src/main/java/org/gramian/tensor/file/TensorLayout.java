package org.gramian.tensor.file;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;

/**
 * Strided layout of a tensor: element {@code (i₀, i₁, …)} has the index {@code offset + Σ iₖ·strideₖ} in memory.
 *
 * @param strides strides in elements, not negative
 */
public record TensorLayout(long offset, List<Long> sizes, List<Long> strides) {
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
        long[] index = new long[sizes.size()];
        long from = offset;
        for (long to = 0; to < shape.elements(); to++) {
            MemorySegment.copy(memory, from * width, copy, to * width, width);
            int axis = index.length - 1;
            for (; axis >= 0 && index[axis] == sizes.get(axis) - 1; axis--) {
                from -= index[axis] * strides.get(axis);
                index[axis] = 0;
            }
            if (axis >= 0) {
                index[axis]++;
                from += strides.get(axis);
            }
        }
        return new StoredTensor(type, shape, copy.asReadOnly());
    }
}
