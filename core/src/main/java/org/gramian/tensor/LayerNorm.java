package org.gramian.tensor;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Layer normalization of rows, {@code y = γ·(x − μ)/√(v + ε) + β} with mean μ and variance v of each row (Ba, Kiros and
 * Hinton, "Layer Normalization", arXiv:1607.06450).
 *
 * <p>libtorch's layer norm takes a list of sizes, which its dispatcher accepts only from 2.10 on. Its group norm takes
 * none and is the same function for one group of {@code 1×1} maps.
 *
 * @param epsilon ε
 */
public record LayerNorm(double epsilon) {
    private static final class Operators {
        static final Operator GROUP_NORM = Operator.of("native_group_norm");
    }

    /**
     * Normalized rows.
     *
     * @param value y {@code [m, d]}
     * @param mean μ {@code [m, 1]}
     * @param inverse {@code 1/√(v + ε)} {@code [m, 1]}
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
        Checks.rank("layer norm", rows, 2);
        Checks.floating("layer norm", rows);
        Checks.sameKind("layer norm", rows, gamma);
        Checks.sameKind("layer norm", rows, beta);
        Shape each = Shape.of(rows.size(1));
        if (!gamma.shape().equals(each) || !beta.shape().equals(each)) {
            throw Checks.mismatch("layer norm", gamma, beta, "expected one scale and one offset per column of " + rows);
        }
        Tensor[] results = Operators.GROUP_NORM.results(
                3,
                Views.contiguous(rows),
                Optional.of(gamma),
                Optional.of(beta),
                rows.size(0),
                rows.size(1),
                1L,
                1L,
                epsilon);
        return new Normalized(results[0], results[1], results[2]);
    }

    /**
     * Computes the gradients: with {@code n = (x − μ)/√(v + ε)}, {@code dγ = Σ g·n}, {@code dβ = Σ g} over the rows, and
     * {@code dx = (g·γ − mean(g·γ) − n·mean(g·γ·n))/√(v + ε)} with means over each row.
     *
     * @param g gradient of y {@code [m, d]}
     */
    public static Gradients backward(Tensor g, Tensor rows, Tensor gamma, Normalized of, boolean[] wanted) {
        long size = rows.size(1);
        Tensor normal = Elementwise.mulInPlace(Elementwise.sub(rows, of.mean), of.inverse);
        Tensor products = Elementwise.mul(g, normal);
        Tensor dGamma = wanted[1] ? Views.reshape(Reductions.sum(products, 0), size) : null;
        Tensor dBeta = wanted[2] ? Views.reshape(Reductions.sum(g, 0), size) : null;
        if (!wanted[0]) {
            return new Gradients(null, dGamma, dBeta);
        }
        Tensor column = Views.reshape(Elementwise.mul(gamma, 1.0 / size), size, 1);
        Tensor mean = Products.matmul(g, column);
        Tensor correlation = Products.matmul(products, column);
        Tensor centred = Elementwise.sub(Elementwise.mul(g, gamma), mean);
        Tensor dx = Elementwise.sub(centred, Elementwise.mulInPlace(normal, correlation));
        return new Gradients(Elementwise.mulInPlace(dx, of.inverse), dGamma, dBeta);
    }
}
