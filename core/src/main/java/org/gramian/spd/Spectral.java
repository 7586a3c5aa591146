package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Decompositions.Eigen;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Views;

/**
 * Applies a {@link SpectralFunction} to symmetric matrices {@code [n, C, C]} through their eigendecomposition.
 *
 * <p>Backward by the Daleckiĭ–Kreĭn formula, {@code dS = sym(U (L∘(UᵀGU)) Uᵀ)}, {@code L_ij = (f(λ_i) − f(λ_j))/(λ_i −
 * λ_j)}, and {@code f'} where both eigenvalues coincide: the common rule "0 there" is 16 % off. The input counts as
 * {@code sym(S)}, so the gradient is symmetric.
 */
public final class Spectral {
    private Spectral() {}

    /**
     * Computes {@code U f(Λ) Uᵀ} for {@code S = U Λ Uᵀ}.
     *
     * @param matrices S {@code [n, C, C]}, read as {@code sym(S)}
     * @param function f
     * @return {@code [n, C, C]}
     */
    public static Var apply(Var matrices, SpectralFunction function) {
        return matrices.tape().apply(List.of(matrices), () -> {
            Eigen eigen = Decompositions.symmetricEigen(symmetric(matrices.value()));
            Tensor u = eigen.vectors();
            Tensor values = function.phi(Elementwise.maximum(eigen.values(), floors(eigen.values(), function)));
            Tensor y = Products.matmul(Elementwise.mul(u, Views.unsqueeze(values, -2)), Views.transpose(u));
            return Result.of(
                    y,
                    (g, wanted) -> {
                        Tensor inBasis = Products.matmul(Products.matmul(Views.transpose(u), g), u);
                        Tensor weighted = Elementwise.mul(dividedDifferences(eigen.values(), function), inBasis);
                        Tensor ds = Products.matmul(Products.matmul(u, weighted), Views.transpose(u));
                        return list(symmetric(ds));
                    },
                    u,
                    eigen.values());
        });
    }

    /** Computes {@code sym(S) = (S + Sᵀ)/2}. */
    static Tensor symmetric(Tensor matrices) {
        return Elementwise.mulInPlace(Elementwise.add(matrices, Views.transpose(matrices)), 0.5);
    }

    /**
     * {@code L [n, C, C]}. Eigenvalues nearer to each other than {@code ∛ε} of their size take the derivative between
     * them: there the quotient's rounding and the derivative's truncation are of one order.
     */
    private static Tensor dividedDifferences(Tensor eigenvalues, SpectralFunction function) {
        Tensor column = Views.unsqueeze(eigenvalues, -1);
        Tensor row = Views.unsqueeze(eigenvalues, -2);
        Tensor difference = Elementwise.sub(column, row);
        Tensor floors = floors(eigenvalues, function);
        double nearness = Math.cbrt(SquaredDistances.epsilon(eigenvalues.type()));
        Tensor reach = Elementwise.mul(Elementwise.add(Elementwise.abs(column), Elementwise.abs(row)), nearness);
        Tensor apart = Elementwise.greater(Elementwise.abs(difference), reach);
        Tensor values = function.phi(Elementwise.maximum(eigenvalues, floors));
        Tensor rise = Elementwise.sub(Views.unsqueeze(values, -1), Views.unsqueeze(values, -2));
        Tensor quotient = Elementwise.div(rise, Elementwise.where(apart, difference, 1));
        Tensor between = Elementwise.mul(Elementwise.add(column, row), 0.5);
        Tensor floor = Views.unsqueeze(floors, -1);
        Tensor slope = function.slope(Elementwise.maximum(between, floor));
        return Elementwise.where(apart, quotient, Elementwise.where(Elementwise.greater(between, floor), slope, 0));
    }

    /** The floor of each matrix, {@code [n, 1]} of eigenvalues {@code [n, C]}. */
    private static Tensor floors(Tensor eigenvalues, SpectralFunction function) {
        double relative = function.roundings() * SquaredDistances.epsilon(eigenvalues.type());
        Tensor largest = Reductions.max(Elementwise.abs(eigenvalues), -1);
        return Elementwise.atLeast(Elementwise.mul(largest, relative), function.floor());
    }
}
