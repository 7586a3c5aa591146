package org.gramian.pooling;

import java.util.List;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.spd.QuadraticForms;
import org.gramian.tensor.Shape;

/**
 * A vector of learned forms of the matrix, {@code v_j = w_jᵀ Y w_j}, the columns of {@code weight [C, d]}: as short as one
 * likes, and not negative where Y is positive semidefinite (Yu, Salzmann, "Second-order Convolutional Neural Networks",
 * 2017).
 *
 * @param size d
 */
public record ParametricVectorization(int size) implements Vectorization {
    static final Words.Rule RULE = new Words.Rule(
            "pv", "pv:<size>", "v_j = w_j^T Y w_j, W learned", a -> new ParametricVectorization(a.count("size")));

    public ParametricVectorization {
        if (size < 1) {
            throw new IllegalArgumentException("pv: expected a size of at least 1, found " + size);
        }
    }

    @Override
    public String text() {
        return "pv:" + size;
    }

    @Override
    public long outputs(long channels) {
        return size;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(new ParameterSpec("weight", Shape.of(channels, size), Role.WEIGHT, FreeTransform::scaled));
    }

    @Override
    public Var apply(Var matrices, Bindings parameters) {
        Var weight = parameters.get("weight");
        return QuadraticForms.of(matrices, weight, weight);
    }
}
