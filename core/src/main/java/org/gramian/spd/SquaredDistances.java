package org.gramian.spd;

import java.util.List;
import org.gramian.spd.Rbf.Backward;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Squared distances between all pairs of feature maps by one Gram product, {@code D = s1ᵀ + 1sᵀ − 2XXᵀ} with {@code s_i
 * = ‖x_i‖²}.
 *
 * <p>The mean map is subtracted first: distances do not change, but in float32 maps far from the origin would lose all
 * digits otherwise. Negative rounding errors are set to 0, and so is the diagonal.
 */
final class SquaredDistances {
    private SquaredDistances() {}

    /** Subtracts the mean map: maps {@code [n, C, N]}. */
    static Tensor centred(Tensor maps) {
        return maps.addScaled(maps.sum(1), -1.0 / maps.size(1));
    }

    /** Computes {@code D [n, C, C]} of centred maps. */
    static Tensor squared(Tensor centred) {
        return squared(centred, squaredNorms(centred));
    }

    /**
     * Computes {@code max(D_ij − 16ε(s_i + s_j), 0)}: D up to rounding, and exactly 0 for equal maps, so that square
     * roots of rounding errors do not add up in a mean distance.
     */
    static Tensor squaredAboveRounding(Tensor centred) {
        Tensor s = squaredNorms(centred);
        return squared(
                centred,
                s.mulInPlace(1 - Kernel.EQUALITY_MARGIN * centred.type().epsilon()));
    }

    private static Tensor squared(Tensor centred, Tensor s) {
        Tensor d = s.add(s.transpose());
        d.addProducts(1, -2, centred, centred.transpose());
        d.reluInPlace();
        d.diagonal().fill(0);
        return d;
    }

    /** Computes D with the distances of maps that are equal up to rounding, {@code D_ij ≤ 16ε(s_i + s_j)}, set to 0. */
    static Tensor squaredOrZero(Tensor centred) {
        Tensor s = squaredNorms(centred);
        Tensor noise =
                s.add(s.transpose()).mul(Kernel.EQUALITY_MARGIN * centred.type().epsilon());
        Tensor d = squared(centred, s);
        return Tensors.where(d.greater(noise), d, d.mul(0)); // NaN stays NaN
    }

    /** Computes {@code 1/d_ij}, and 0 where {@code d_ij = 0}. */
    static Tensor inverseOrZero(Tensor d) {
        return Tensors.where(d.greater(0), d.reciprocal(), 0);
    }

    /** Computes the mean over the {@code C(C−1)} pairs of different maps, {@code [n, 1, 1]}. */
    static Tensor meanOverPairs(Tensor distances) {
        double pairs = (double) distances.size(1) * (distances.size(1) - 1);
        return distances.sum(1, 2).mul(1 / pairs);
    }

    /**
     * Computes the gradient of {@code L(D)} with respect to the maps: {@code dM = 2(rowsum(T)∘X − TX)}, {@code T = P +
     * Pᵀ}, for {@code P = dL/dD}.
     *
     * <p>A column of ones beside X makes rowsum(T) part of the product. The paper prints {@code
     * 4(rowsum(P)∘X − PX)}, equal only for a symmetric P; its per-map equation is half the true gradient.
     */
    static Tensor backward(Tensor p, Tensor centred, Backward formula) {
        long positions = centred.size(2);
        Tensor ones = Tensors.full(1, centred.shape().with(2, 1), centred.type(), centred.device());
        Tensor x = Tensors.concat(List.of(centred, ones), 2);
        Tensor tx = p.matmul(x);
        if (formula == Backward.EXACT) {
            tx.addProducts(1, 1, p.transpose(), x);
        }
        Tensor rowSums = tx.slice(2, positions, positions + 1);
        Tensor difference = centred.mul(rowSums).sub(tx.slice(2, 0, positions));
        return difference.mulInPlace(formula == Backward.EXACT ? 2 : 4);
    }

    private static Tensor squaredNorms(Tensor maps) {
        return maps.mul(maps).sum(2);
    }
}
