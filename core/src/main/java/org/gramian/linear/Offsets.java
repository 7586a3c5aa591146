package org.gramian.linear;

import org.gramian.tensor.DType;
import org.gramian.tensor.Products;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/** The bias of scores that were found for rows around a centre: {@code w·(v − m) + b = w·v + (b − w·m)}. */
final class Offsets {
    private Offsets() {}

    /**
     * In double precision, for the two parts may be large and nearly equal.
     *
     * @param centre m {@code [1, d]}
     * @param weight {@code [k, d]}
     * @param bias b of each class
     * @return {@code [k]} in single precision on the device of the weight
     */
    static Tensor around(Tensor centre, Tensor weight, double[] bias) {
        double[] moved = Products.matmul(Tensors.to(weight, DType.F64), Views.transpose(Tensors.to(centre, DType.F64)))
                .toDoubles();
        for (int label = 0; label < moved.length; label++) {
            moved[label] = bias[label] - moved[label];
        }
        return Tensors.to(Tensors.of(moved, Shape.of(moved.length), DType.F32), weight.device());
    }
}
