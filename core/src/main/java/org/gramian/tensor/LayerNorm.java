package org.gramian.tensor;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Layer normalization of rows, {@code y = γ·(x − μ)/√(v + ε) + β} with mean μ and variance v of each row (Ba, Kiros and
 * Hinton, "Layer Normalization", arXiv:1607.06450).
 *
 * <p>Rows may have another type than γ and β, such as {@link DType#BF16} beside float32: the function is computed in the
 * type of γ and β and rounded to that of the rows.
 *
 * <p>libtorch's group norm computes the function: it is the same for one group of {@code 1×1} maps, and it takes no list of
 * sizes, which the dispatcher accepts only from 2.10 on.
 *
 * @param epsilon ε
 * @since 0.1
 */
public record LayerNorm(double epsilon) {
    private static final class Operators {
        static final Operator GROUP_NORM = Operator.of("native_group_norm");
    }

    /**
     * Normalized rows.
     *
     * @param value y {@code [m, d]}
     * @param mean μ {@code [m, 1]}, of the type of γ
     * @param inverse {@code 1/√(v + ε)} {@code [m, 1]}, of the type of γ
     */
    public record Normalized(Tensor value, Tensor mean, Tensor inverse) {}

    /** Gradients of {@link #apply}; null where not requested. */
    public record Gradients(
            @Nullable Tensor rows,
            @Nullable Tensor gamma,
            @Nullable Tensor beta) {}

    /**
     * Normalizes each row.
     *
     * @param rows x {@code [m, d]}
     * @param gamma γ {@code [d]}
     * @param beta β {@code [d]}
     */
    public Normalized apply(Tensor rows, Tensor gamma, Tensor beta) {
        check(rows, gamma, beta);
        Tensor x = rows.contiguous();
        Tensor[] results = Operators.GROUP_NORM.results(
                3,
                x.to(gamma.type()),
                Optional.of(gamma),
                Optional.of(beta),
                rows.size(0),
                rows.size(1),
                1L,
                1L,
                epsilon);
        return new Normalized(results[0].to(rows.type()), results[1], results[2]);
    }

    private static void check(Tensor rows, Tensor gamma, Tensor beta) {
        Checks.rank("layer norm", rows, 2);
        Checks.floating("layer norm", rows);
        Checks.sameKind("layer norm", gamma, beta);
        Shape each = Shape.of(rows.size(1));
        if (!gamma.shape().equals(each) || !beta.shape().equals(each)) {
            throw Checks.mismatch("layer norm", gamma, beta, "expected one scale and one offset per column of " + rows);
        }
    }

    /**
     * Computes the gradients: with {@code n = (x − μ)/√(v + ε)}, {@code dγ = Σ g·n}, {@code dβ = Σ g} over the rows, and
     * {@code dx = (g·γ − mean(g·γ) − n·mean(g·γ·n))/√(v + ε)} with means over each row.
     *
     * @param g gradient of y {@code [m, d]}, of the type of the rows
     */
    public static Gradients backward(Tensor g, Tensor rows, Tensor gamma, Normalized of, boolean[] wanted) {
        Checks.sameKind("layer norm", g, rows);
        DType exact = gamma.type();
        long size = rows.size(1);
        Tensor up = g.to(exact);
        Tensor normal = rows.to(exact).sub(of.mean).mulInPlace(of.inverse);
        Tensor products = up.mul(normal);
        Tensor dGamma = wanted[1] ? products.columnSums() : null;
        Tensor dBeta = wanted[2] ? up.columnSums() : null;
        if (!wanted[0]) {
            return new Gradients(null, dGamma, dBeta);
        }
        Tensor column = gamma.mul(1.0 / size).reshape(size, 1);
        Tensor mean = up.matmul(column);
        Tensor correlation = products.matmul(column);
        Tensor centred = up.mul(gamma).sub(mean);
        Tensor dx = centred.sub(normal.mulInPlace(correlation));
        return new Gradients(dx.mulInPlace(of.inverse).to(rows.type()), dGamma, dBeta);
    }
}
