package org.gramian.testing;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** An array of numbers in plain Java, element by element: what a tensor is compared with. */
public final class Grid {
    private final Shape shape;
    private final double[] values;

    private Grid(Shape shape, double[] values) {
        this.shape = shape;
        this.values = values;
    }

    /** The elements of a tensor. */
    public static Grid of(Tensor tensor) {
        return new Grid(tensor.shape(), tensor.toDoubles());
    }

    /** An array whose elements are a function of their place. */
    public static Grid make(Shape shape, ToDoubleFunction<int[]> element) {
        Grid grid = new Grid(shape, new double[Math.toIntExact(shape.elements())]);
        for (int k = 0; k < grid.values.length; k++) {
            grid.values[k] = element.applyAsDouble(grid.place(k));
        }
        return grid;
    }

    /** A shape of the given rank with sizes from 1 to 4. */
    public static Shape randomShape(RandomGenerator random, int rank) {
        return Shape.of(random.longs(rank, 1, 5).toArray());
    }

    public Shape shape() {
        return shape;
    }

    public double[] values() {
        return values;
    }

    /** The place of the k-th element, row by row. */
    private int[] place(int k) {
        int[] place = new int[shape.rank()];
        int rest = k;
        for (int i = place.length - 1; i >= 0; i--) {
            place[i] = rest % (int) shape.at(i);
            rest /= (int) shape.at(i);
        }
        return place;
    }

    public double at(int... place) {
        int k = 0;
        for (int i = 0; i < place.length; i++) {
            k = k * (int) shape.at(i) + place[i];
        }
        return values[k];
    }

    /** The element at a place, or 0 outside the array: what padding with zeros looks like. */
    public double atOrZero(int... place) {
        for (int i = 0; i < place.length; i++) {
            if (place[i] < 0 || place[i] >= shape.at(i)) {
                return 0;
            }
        }
        return at(place);
    }

    /** Adds to one element. */
    public void add(double amount, int... place) {
        int k = 0;
        for (int i = 0; i < place.length; i++) {
            k = k * (int) shape.at(i) + place[i];
        }
        values[k] += amount;
    }

    /** The element that broadcasting puts at a place of a larger array: sizes 1 repeat, missing dimensions too. */
    public double broadcastAt(int... place) {
        int extra = place.length - shape.rank();
        int[] own = Arrays.copyOfRange(place, extra, place.length);
        for (int i = 0; i < own.length; i++) {
            own[i] = shape.at(i) == 1 ? 0 : own[i];
        }
        return at(own);
    }

    public Tensor tensor() {
        return Tensors.of(values, shape, DType.F64);
    }

    @Override
    public String toString() {
        return shape + " " + Arrays.toString(values);
    }
}
