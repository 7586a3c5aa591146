package org.gramian.spd.layer;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Bilinear forms of symmetric matrices, {@code v_k = l_kᵀ Y r_k} with the columns of {@code L [C, d]} and {@code R [C,
 * d]}: {@code Y [n, C, C]} to {@code v [n, d]}.
 *
 * <p>Backward, with {@code g = dL/dv}: {@code dL/dY = L diag(g) Rᵀ}, {@code dL/dL = Σ_n Y R diag(g)}, {@code dL/dR =
 * Σ_n Y L diag(g)}. If L and R are one variable, its gradient is computed once and doubled. Columns are processed in
 * chunks, so that temporaries {@code [n, C, columns]} are not larger than the matrices.
 */
public final class QuadraticForms {
    /** With smaller chunks the overhead of operators dominates for small matrices. */
    private static final long FEWEST_AT_ONCE = 256;

    private QuadraticForms() {}

    /**
     * Computes {@code v}.
     *
     * @param matrices Y {@code [n, C, C]}, symmetric
     * @param left L {@code [C, d]}
     * @param right R {@code [C, d]}, may be the same variable
     * @return {@code [n, d]}
     */
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
        boolean same = left == right;
        return matrices.tape().apply(same ? List.of(matrices, left) : List.of(matrices, left, right), () -> {
            Tensor v = values(y, l, r);
            return Result.of(v, (g, wanted) -> {
                Tensor ofMatrices = wanted[0] ? ofMatrices(g, l, r) : null;
                Tensor ofLeft = wanted[1] ? ofColumns(g, y, r) : null;
                return same
                        ? list(ofMatrices, ofLeft == null ? null : ofLeft.mulInPlace(2))
                        : list(ofMatrices, ofLeft, wanted[2] ? ofColumns(g, y, l) : null);
            });
        });
    }

    private static Tensor values(Tensor y, Tensor l, Tensor r) {
        List<Tensor> parts = new ArrayList<>();
        for (Span span : Span.all(y.size(1), l.size(1))) {
            try (Scope scope = Scope.open()) {
                Tensor products = SpdTransform.timesEach(y, span.columns(r)).mulInPlace(span.columns(l));
                parts.add(scope.keep(products.sum(1).reshape(y.size(0), span.count())));
            }
        }
        return parts.size() == 1 ? parts.getFirst() : Tensors.concat(parts, 1);
    }

    /** Computes {@code L diag(g) Rᵀ}. */
    private static Tensor ofMatrices(Tensor g, Tensor l, Tensor r) {
        long n = g.size(0);
        long size = l.size(0);
        Tensor sum = Tensors.zeros(Shape.of(1, n * size, size), g.type(), g.device());
        for (Span span : Span.all(size, l.size(1))) {
            try (Scope _ = Scope.open()) {
                Tensor weighted = span.columns(l).mul(span.upstream(g));
                Tensor rows = weighted.reshape(1, n * size, span.count());
                sum.addProducts(1, 1, rows, span.columns(r).transpose().unsqueeze(0));
            }
        }
        return sum.reshape(n, size, size);
    }

    /** Computes {@code Σ_n Y·other·diag(g)}. */
    private static Tensor ofColumns(Tensor g, Tensor y, Tensor other) {
        List<Tensor> parts = new ArrayList<>();
        for (Span span : Span.all(y.size(1), other.size(1))) {
            try (Scope scope = Scope.open()) {
                Tensor weighted = SpdTransform.timesEach(y, span.columns(other)).mulInPlace(span.upstream(g));
                parts.add(scope.keep(weighted.sum(0).reshape(y.size(1), span.count())));
            }
        }
        return parts.size() == 1 ? parts.getFirst() : Tensors.concat(parts, 1);
    }

    /** Columns {@code start} to {@code end} (exclusive). */
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
            return matrix.slice(1, start, end);
        }

        /** Returns their gradients {@code [n, 1, columns]}. */
        Tensor upstream(Tensor g) {
            return g.slice(1, start, end).unsqueeze(1);
        }
    }
}
