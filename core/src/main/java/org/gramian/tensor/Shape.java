package org.gramian.tensor;

import java.util.Arrays;

/**
 * Immutable sizes of the dimensions of a tensor, printed as {@code [3, 7, 12]}.
 *
 * @since 0.1
 */
public final class Shape {
    private final long[] sizes;

    private Shape(long[] sizes) {
        this.sizes = sizes;
    }

    /**
     * Creates a shape; without sizes it is the shape of a scalar.
     *
     * @throws IllegalArgumentException if a size is negative or the number of elements exceeds a {@code long}
     */
    public static Shape of(long... sizes) {
        Shape shape = new Shape(sizes.clone());
        long count = 1;
        for (long size : sizes) {
            if (size < 0) {
                throw new IllegalArgumentException("sizes must not be negative, found " + shape);
            }
            if (size != 0 && count > Long.MAX_VALUE / size) {
                throw new IllegalArgumentException("the number of elements of " + shape + " exceeds 2^63-1");
            }
            count *= size;
        }
        return shape;
    }

    /** Returns the number of dimensions. */
    public int rank() {
        return sizes.length;
    }

    /** Returns the size of one dimension; negative indexes count from the end. */
    public long at(int dimension) {
        return sizes[index(dimension)];
    }

    /** Returns the non-negative index of a dimension; negative indexes count from the end. */
    public int index(int dimension) {
        int index = dimension < 0 ? dimension + sizes.length : dimension;
        if (index < 0 || index >= sizes.length) {
            throw new IndexOutOfBoundsException("dimension " + dimension + " of a tensor of shape " + this);
        }
        return index;
    }

    /** Returns the number of elements, the product of all sizes. */
    public long elements() {
        long count = 1;
        for (long size : sizes) {
            count *= size;
        }
        return count;
    }

    /** Returns this shape with the size of one dimension replaced. */
    public Shape with(int dimension, long size) {
        long[] changed = sizes.clone();
        changed[index(dimension)] = size;
        return of(changed);
    }

    /** Returns a copy of the sizes. */
    public long[] sizes() {
        return sizes.clone();
    }

    /** Returns the row-major strides in elements. */
    long[] strides() {
        long[] strides = new long[sizes.length];
        long step = 1;
        for (int i = sizes.length - 1; i >= 0; i--) {
            strides[i] = step;
            step *= Math.max(1, sizes[i]);
        }
        return strides;
    }

    /** Returns the strides in elements of feature maps {@code [n, c, h, w]} in channels-last format. */
    long[] channelsLastStrides() {
        return new long[] {at(1) * at(2) * at(3), 1, at(1) * at(3), at(1)};
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape shape && Arrays.equals(sizes, shape.sizes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(sizes);
    }

    @Override
    public String toString() {
        return Arrays.toString(sizes);
    }
}
