package org.gramian.pooling;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.spd.QuadraticForms;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Compact bilinear pooling by random Maclaurin features: {@code v_k = w1_kᵀ K w2_k / √d} with vectors of random signs, the
 * columns of {@code w1 [C, d]} and {@code w2 [C, d]}, drawn once and never trained (Gao, Beijbom, Zhang, Darrell, "Compact
 * Bilinear Pooling", CVPR 2016).
 *
 * <p>Of {@code K = Σ_p x_p x_pᵀ} it is the published sum over positions of {@code (w1_k·x_p)(w2_k·x_p)/√d}. Inner products
 * are kept on average over the draw: {@code E⟨v(x), v(y)⟩ = ⟨x, y⟩²} for {@code K = xxᵀ} and {@code yyᵀ}.
 *
 * <p>The signs travel in the model: 32 MiB at C = 512, d = 8192 in single precision. Each image takes {@code 2dC²}
 * operations, d/N times those of K itself; {@link TensorSketch} needs {@code C²}.
 *
 * @param size d
 */
public record RandomMaclaurin(int size) implements Vectorization {
    static final Words.Rule RULE = new Words.Rule(
            "maclaurin",
            "maclaurin:<size>",
            "compact bilinear, v_k = w1_k^T K w2_k / sqrt d, random signs",
            a -> new RandomMaclaurin(a.count("size")));

    public RandomMaclaurin {
        if (size < 1) {
            throw new IllegalArgumentException("maclaurin: expected a size of at least 1, found " + size);
        }
    }

    @Override
    public String text() {
        return "maclaurin:" + size;
    }

    @Override
    public long outputs(long channels) {
        return size;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        Shape shape = Shape.of(channels, size);
        return List.of(
                new ParameterSpec("w1", shape, Role.FITTED, RandomMaclaurin::signs),
                new ParameterSpec("w2", shape, Role.FITTED, RandomMaclaurin::signs));
    }

    /** 1 and −1, each with probability 1/2. */
    static Tensor signs(RandomGenerator random, Shape shape, DType type) {
        double[] signs = new double[Math.toIntExact(shape.elements())];
        for (int i = 0; i < signs.length; i++) {
            signs[i] = random.nextBoolean() ? 1 : -1;
        }
        return Tensors.of(signs, shape, type);
    }

    @Override
    public Var apply(Var matrices, Bindings parameters) {
        Var forms = QuadraticForms.of(matrices, parameters.get("w1"), parameters.get("w2"));
        return Arithmetic.scale(forms, 1 / Math.sqrt(size));
    }
}
