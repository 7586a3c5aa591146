package org.gramian.linear;

import org.gramian.tensor.DType;
import org.gramian.tensor.Decompositions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Products of centred rows with one another, divided by their mean squared length. Those of joined rows are the mean of those of
 * their parts.
 *
 * @param products {@code [n, n]} of the rows about their mean, float32
 */
public record RowProducts(Tensor products, double meanSquare) {
    /** Relative to the mean squared length of a row: the rounding of the products is smaller. */
    private static final double JITTER = 1e-5;

    /** Computes the products of rows {@code [n, d]}; they belong to the open scope. */
    public static RowProducts of(Tensor rows) {
        try (Scope scope = Scope.open()) {
            Tensor products = CentredRows.aroundMean(rows).gram();
            double square = products.diagonal().to(DType.F64).sum().item() / rows.size(0);
            double scale = square > 0 ? square : 1; // all rows are equal
            return new RowProducts(scope.keep(products.mulInPlace(1 / scale)), scale);
        }
    }

    /** Returns rows {@code [n, n]} that have these products, up to rounding: a factor {@code LLᵀ}. */
    public static Tensor rowsOf(Tensor products) {
        try (Scope scope = Scope.open()) {
            Tensor jitter = Tensors.identity(products.size(0), DType.F64, products.device());
            Tensor regular = products.to(DType.F64).add(jitter.mulInPlace(JITTER)); // of full rank
            return scope.keep(Decompositions.cholesky(regular).to(DType.F32));
        }
    }
}
