package org.gramian.spd;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Many forms of one symmetric matrix, {@code v_k = l_kᵀ Y r_k}: from {@code Y [n, C, C]} and the columns of {@code L [C,
 * d]} and {@code R [C, d]} to {@code v [n, d]}.
 *
 * <p>With {@code g = dL/dv}: {@code dL/dY = L diag(g) Rᵀ}, {@code dL/dL = Σ_n Y R diag(g)}, {@code dL/dR = Σ_n Y L
 * diag(g)}, since Y is symmetric. Where L and R are one variable, its gradient is computed once and doubled.
 *
 * <p>Columns are taken a few at a time: what is made on the way, {@code [n, C, columns]}, stays of the size of the
 * matrices themselves however large d is.
 */
public final class QuadraticForms {
    /** Fewer columns at once would leave small matrices waiting for operators to start. */
    private static final long FEWEST_AT_ONCE = 256;

    private QuadraticForms() {}

    public static Var of(Var matrices, Var left, Var right) {
        Tensor y = matrices.value();
        Tensor l = left.value();
        Tensor r = right.value();
        if (y.shape().rank() != 3
                || y.size(1) != y.size(2)
                || l.shape().rank() != 2
                || l.size(0) != y.size(1)
                || !r.shape().equals(l.shape())) {
            throw new IllegalArgumentException("quadratic forms: expected matrices [n, C, C] and two of [C, d], found "
                    + y + ", " + l + " and " + r);
        }
        if (left == right) {
            return matrices.tape()
                    .apply(
                            List.of(matrices, left),
                            () -> Result.of(
                                    values(y, l, l),
                                    (g, wanted) -> list(
                                            wanted[0] ? ofMatrices(g, l, l) : null,
                                            wanted[1] ? Elementwise.mulInPlace(ofColumns(g, y, l), 2) : null)));
        }
        return matrices.tape()
                .apply(
                        List.of(matrices, left, right),
                        () -> Result.of(
                                values(y, l, r),
                                (g, wanted) -> list(
                                        wanted[0] ? ofMatrices(g, l, r) : null,
                                        wanted[1] ? ofColumns(g, y, r) : null,
                                        wanted[2] ? ofColumns(g, y, l) : null)));
    }

    private static Tensor values(Tensor y, Tensor l, Tensor r) {
        List<Tensor> parts = new ArrayList<>();
        for (Span span : Span.all(y.size(1), l.size(1))) {
            try (Scope scope = Scope.open()) {
                Tensor products = Elementwise.mulInPlace(SpdTransform.timesEach(y, span.columns(r)), span.columns(l));
                parts.add(scope.keep(Views.reshape(Reductions.sum(products, 1), y.size(0), span.count())));
            }
        }
        return parts.size() == 1 ? parts.getFirst() : Views.concat(parts, 1);
    }

    /** {@code L diag(g) Rᵀ}. */
    private static Tensor ofMatrices(Tensor g, Tensor l, Tensor r) {
        long n = g.size(0);
        long size = l.size(0);
        Tensor sum = Tensors.zeros(Shape.of(1, n * size, size), g.type(), g.device());
        for (Span span : Span.all(size, l.size(1))) {
            try (Scope _ = Scope.open()) {
                Tensor weighted = Elementwise.mul(span.columns(l), span.upstream(g));
                Tensor rows = Views.reshape(weighted, 1, n * size, span.count());
                Products.addProducts(sum, 1, 1, rows, Views.unsqueeze(Views.transpose(span.columns(r)), 0));
            }
        }
        return Views.reshape(sum, n, size, size);
    }

    /** {@code Σ_n Y·other·diag(g)}. */
    private static Tensor ofColumns(Tensor g, Tensor y, Tensor other) {
        List<Tensor> parts = new ArrayList<>();
        for (Span span : Span.all(y.size(1), other.size(1))) {
            try (Scope scope = Scope.open()) {
                Tensor weighted =
                        Elementwise.mulInPlace(SpdTransform.timesEach(y, span.columns(other)), span.upstream(g));
                parts.add(scope.keep(Views.reshape(Reductions.sum(weighted, 0), y.size(1), span.count())));
            }
        }
        return parts.size() == 1 ? parts.getFirst() : Views.concat(parts, 1);
    }

    /** Columns from {@code start} on, up to {@code end}. */
    private record Span(long start, long end) {
        static List<Span> all(long size, long columns) {
            long atOnce = Math.max(size, FEWEST_AT_ONCE);
            List<Span> all = new ArrayList<>();
            for (long start = 0; start < columns; start += atOnce) {
                all.add(new Span(start, Math.min(columns, start + atOnce)));
            }
            return all;
        }

        long count() {
            return end - start;
        }

        Tensor columns(Tensor matrix) {
            return Views.slice(matrix, 1, start, end);
        }

        /** Their gradients {@code [n, 1, columns]}. */
        Tensor upstream(Tensor g) {
            return Views.unsqueeze(Views.slice(g, 1, start, end), 1);
        }
    }
}
