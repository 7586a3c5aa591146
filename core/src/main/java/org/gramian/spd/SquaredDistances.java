package org.gramian.spd;

import java.util.List;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Squared distances between all pairs of feature maps by one Gram product, {@code D = s1ᵀ + 1sᵀ − 2XXᵀ} with {@code s_i
 * = ‖x_i‖²}.
 *
 * <p>The mean map is subtracted first: distances do not change, but in float32 maps far from the origin would lose all
 * digits otherwise. Negative rounding errors are set to 0, and so is the diagonal.
 */
final class SquaredDistances {
    private SquaredDistances() {}

    /**
     * Subtracts the mean map.
     *
     * @param maps {@code [n, C, N]}
     */
    static Tensor centred(Tensor maps) {
        return Elementwise.addScaled(maps, Reductions.sum(maps, 1), -1.0 / maps.size(1));
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
                Elementwise.mulInPlace(
                        s, 1 - Kernel.EQUALITY_MARGIN * centred.type().epsilon()));
    }

    private static Tensor squared(Tensor centred, Tensor s) {
        Tensor d = Elementwise.add(s, Views.transpose(s));
        Products.addProducts(d, 1, -2, centred, Views.transpose(centred));
        Elementwise.reluInPlace(d);
        Tensors.fill(Views.diagonal(d), 0);
        return d;
    }

    /** Computes D with the distances of maps that are equal up to rounding, {@code D_ij ≤ 16ε(s_i + s_j)}, set to 0. */
    static Tensor squaredOrZero(Tensor centred) {
        Tensor s = squaredNorms(centred);
        Tensor noise = Elementwise.mul(
                Elementwise.add(s, Views.transpose(s)),
                Kernel.EQUALITY_MARGIN * centred.type().epsilon());
        Tensor d = squared(centred, s);
        return Elementwise.where(Elementwise.greater(d, noise), d, Elementwise.mul(d, 0)); // NaN stays NaN
    }

    /** Computes {@code 1/d_ij}, and 0 where {@code d_ij = 0}. */
    static Tensor inverseOrZero(Tensor d) {
        return Elementwise.where(Elementwise.greater(d, 0), Elementwise.reciprocal(d), 0);
    }

    /** Computes the mean over the {@code C(C−1)} pairs of different maps, {@code [n, 1, 1]}. */
    static Tensor meanOverPairs(Tensor distances) {
        double pairs = (double) distances.size(1) * (distances.size(1) - 1);
        return Elementwise.mul(Reductions.sum(distances, 1, 2), 1 / pairs);
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
        Tensor x = Views.concat(List.of(centred, ones), 2);
        Tensor tx = Products.matmul(p, x);
        if (formula == Backward.EXACT) {
            Products.addProducts(tx, 1, 1, Views.transpose(p), x);
        }
        Tensor rowSums = Views.slice(tx, 2, positions, positions + 1);
        Tensor difference = Elementwise.sub(Elementwise.mul(centred, rowSums), Views.slice(tx, 2, 0, positions));
        return Elementwise.mulInPlace(difference, formula == Backward.EXACT ? 2 : 4);
    }

    private static Tensor squaredNorms(Tensor maps) {
        return Reductions.sum(Elementwise.mul(maps, maps), 2);
    }
}
