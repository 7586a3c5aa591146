package org.gramian.pooling;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.spd.TensorSketching;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Compact bilinear pooling by a tensor sketch: each element of K is added, with a random sign, to one of d bins, {@code v_k =
 * Σ s1_i s2_j K_ij} over all i, j with {@code (h1_i + h2_j) mod d = k} (Gao, Beijbom, Zhang, Darrell, "Compact Bilinear
 * Pooling", CVPR 2016; Pham, Pagh, KDD 2013).
 *
 * <p>Of {@code K = Σ_p x_p x_pᵀ} it is the published sum over positions of circular convolutions of two count sketches of
 * {@code x_p}, without their Fourier transforms, {@code [n, d, N]} numbers: sketches are linear. Bins {@code h [2, C]} and
 * signs {@code s [2, C]} are drawn once, travel in the model, and are never trained. Inner products are kept on average
 * over the draw: {@code E⟨v(x), v(y)⟩ = ⟨x, y⟩²} for {@code K = xxᵀ} and {@code yyᵀ}.
 *
 * @param size d
 */
public record TensorSketch(int size) implements Vectorization {
    static final Words.Rule RULE = new Words.Rule(
            "sketch",
            "sketch:<size>",
            "compact bilinear, K_ij with random signs summed into random bins",
            a -> new TensorSketch(a.count("size")));

    public TensorSketch {
        if (size < 1) {
            throw new IllegalArgumentException("sketch: expected a size of at least 1, found " + size);
        }
    }

    @Override
    public String text() {
        return "sketch:" + size;
    }

    @Override
    public long outputs(long channels) {
        return size;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        Shape shape = Shape.of(2, channels);
        return List.of(
                new ParameterSpec("h", shape, Role.FITTED, this::bins),
                new ParameterSpec("s", shape, Role.FITTED, RandomMaclaurin::signs));
    }

    /** Whole numbers below d, which single precision holds exactly: a size has six digits at most. */
    private Tensor bins(RandomGenerator random, Shape shape, DType type) {
        double[] bins = random.ints(shape.elements(), 0, size).asDoubleStream().toArray();
        return Tensors.of(bins, shape, type);
    }

    @Override
    public Var apply(Var matrices, Bindings parameters) {
        Tensor h = parameters.get("h").value();
        return TensorSketching.of(size, h, parameters.get("s").value()).apply(matrices);
    }
}
