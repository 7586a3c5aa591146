package org.gramian.spd;

import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Which elements of a matrix go into which bin of a {@link TensorSketching}, both ways, as tensors to gather by.
 *
 * @param elements {@code [deepest·d]}: the places of the first element of every bin, of the second, …; bins that have no more
 *     repeat place 0
 * @param signs their signs, 0 where a bin has no more
 * @param bins {@code [C²]}: the bin of every element
 * @param signsOfElements {@code [C²]}
 */
record SketchLayout(Tensor elements, Tensor signs, Tensor bins, Tensor signsOfElements) implements AutoCloseable {
    static SketchLayout of(TensorSketching sketching, DType type, Device device) {
        int rows = sketching.rows();
        int size = sketching.size();
        long[] bins = new long[rows * rows];
        double[] signs = new double[rows * rows];
        int[] filled = new int[size];
        int deepest = 0;
        for (int i = 0, place = 0; i < rows; i++) {
            for (int j = 0; j < rows; j++, place++) {
                int bin = (sketching.bins().get(i) + sketching.bins().get(rows + j)) % size;
                bins[place] = bin;
                signs[place] = sketching.signs().get(i) * sketching.signs().get(rows + j);
                deepest = Math.max(deepest, ++filled[bin]);
            }
        }
        long[] elements = new long[Math.multiplyExact(deepest, size)];
        double[] signsOfBins = new double[elements.length];
        for (int place = bins.length - 1; place >= 0; place--) { // the last element of a bin lies deepest
            int bin = (int) bins[place];
            int slot = --filled[bin] * size + bin;
            elements[slot] = place;
            signsOfBins[slot] = signs[place];
        }
        try (Scope _ = Scope.open()) {
            return new SketchLayout(
                    kept(Tensors.ofLongs(elements, Shape.of(elements.length)), device),
                    kept(Tensors.of(signsOfBins, Shape.of(elements.length), type), device),
                    kept(Tensors.ofLongs(bins, Shape.of(bins.length)), device),
                    kept(Tensors.of(signs, Shape.of(bins.length), type), device));
        }
    }

    private static Tensor kept(Tensor made, Device device) {
        Tensor there = Tensors.to(made, device);
        Scope.detach(there);
        return there;
    }

    /** How many elements the fullest bin has. */
    long deepest(int size) {
        return elements.size(0) / size;
    }

    /** The same memory under new handles, which belong to the scope around. */
    SketchLayout views() {
        return new SketchLayout(view(elements), view(signs), view(bins), view(signsOfElements));
    }

    private static Tensor view(Tensor vector) {
        return Views.slice(vector, 0, 0, vector.size(0));
    }

    @Override
    public void close() {
        elements.close();
        signs.close();
        bins.close();
        signsOfElements.close();
    }
}
