package org.gramian.pooling;

import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Transform.Free;
import org.gramian.tensor.Shape;

/**
 * Multi-headed global cross-covariance pooling of second-order transformers, SoT (Xie, Zeng, Wang, Zhou, Li, "SoT:
 * Delving Deeper into Classification Head for Transformer", arXiv 2104.10935, 2021).
 *
 * <p>A head has two learned projections of the centred maps M̄ {@code [n, C, N]}, {@code A = W_a M̄} and {@code B = W_b
 * M̄} with r rows each, and their cross-covariance {@code X = A Bᵀ/N [n, r, r]} with singular values normalized by the
 * power ½ (svPN). Parameters: {@code weight [2·heads·r, C]} and {@code start [r, 1]}. The descriptor is all heads one
 * after another, {@code [n, heads·r²]}.
 *
 * <p>svPN is approximated as published, with one singular value σ₁ by power iterations {@code u = Xs/‖Xs‖, s ← Xᵀu}
 * from the learned vector {@code start}, σ₁ = ‖s‖: the published {@code √σ₁·uvᵀ + (X − σ₁uvᵀ)/√σ₁} is {@code X/√σ₁}.
 * M̄ has mean 0 in each map; the released code subtracts one number from all entries of a projection instead.
 *
 * @param heads number of heads, 6 in the paper
 * @param size r, 14 to 38 in the paper
 * @param iterations number of power iterations, 1 in the paper
 */
public record CrossCovariance(int heads, int size, int iterations) implements Aggregation {
    private static final int DEFAULT_HEADS = 6;
    private static final int DEFAULT_SIZE = 24;

    /** Added to σ₁², which is 0 for a blank image. */
    public static final double SMALLEST_SQUARE = 1e-12;

    static final StageRegistry.SyntaxRule RULE = new StageRegistry.SyntaxRule(
            "sot",
            "sot[:heads=6,size=24,iterations=1]",
            "cross-covariances of learned projections over sqrt of the spectral norm",
            a -> new CrossCovariance(
                    a.count("heads", DEFAULT_HEADS), a.count("size", DEFAULT_SIZE), a.count("iterations", 1)));

    @Override
    public String text() {
        return "sot:" + heads + ",size=" + size + (iterations == 1 ? "" : ",iterations=" + iterations);
    }

    @Override
    public long outputs(long channels) {
        return (long) heads * size * size;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(
                new ParameterSpec(
                        "weight", Shape.of(2L * heads * size, channels), Role.WEIGHT, Free.unitVariance(channels)),
                new ParameterSpec("start", Shape.of(size, 1), Role.BIAS, Initializer.gaussian(1)));
    }

    @Override
    public Var apply(Var maps, Bindings parameters) {
        long images = maps.shape().at(0);
        long positions = maps.shape().at(2);
        long half = (long) heads * size;
        Var centred = maps.sub(maps.sum(2).mul(1.0 / positions));
        Var projected = parameters.get("weight").matmul(centred);
        Var a = projected.slice(1, 0, half).reshape(images * heads, size, positions);
        Var b = projected.slice(1, half, 2 * half).reshape(images * heads, size, positions);
        Var x = a.matmul(b.transpose(1, 2)).mul(1.0 / positions);
        Var norm = spectralNorm(x, parameters.get("start"));
        return x.div(norm.sqrt()).reshape(images, half * size);
    }

    /** Approximates the largest singular values: x {@code [m, r, r]} and start {@code [r, 1]}; returns {@code [m, 1, 1]}. */
    private Var spectralNorm(Var x, Var start) {
        Normalization length = new Normalization.L2();
        Bindings none = Bindings.of(Map.of());
        long count = x.shape().at(0);
        Var s = start;
        for (int i = 0; i < iterations; i++) {
            Var product = x.matmul(s).reshape(count, size);
            Var u = length.apply(product, none).reshape(count, size, 1);
            s = x.transpose(1, 2).matmul(u);
        }
        return s.mul(s).sum(1).add(SMALLEST_SQUARE).sqrt();
    }
}
