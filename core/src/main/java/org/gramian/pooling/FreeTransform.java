package org.gramian.pooling;

import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.autodiff.ParameterSpec.Role;
import org.gramian.autodiff.Var;
import org.gramian.spd.SpdTransform;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * The second-order transformation {@code Y = WᵀKW} with any {@code weight [C, size]}, trained like other weights (Yu,
 * Salzmann, "Second-order Convolutional Neural Networks", 2017): {@link Transform.Spd} without its manifold.
 *
 * @param size rows of Y; they may be more than those of K
 */
public record FreeTransform(int size) implements Transform {
    static final Words.Rule RULE = new Words.Rule(
            "o2t", "o2t:<size>", "Y = W^T K W, W unconstrained", a -> new FreeTransform(a.count("size")));

    public FreeTransform {
        if (size < 1) {
            throw new IllegalArgumentException("o2t: expected a size of at least 1, found " + size);
        }
    }

    @Override
    public String text() {
        return "o2t:" + size;
    }

    @Override
    public long outputs(long channels) {
        return size;
    }

    @Override
    public List<ParameterSpec> parameters(long channels) {
        return List.of(new ParameterSpec("weight", Shape.of(channels, size), Role.WEIGHT, FreeTransform::scaled));
    }

    /** Gaussian of variance 1/C: {@code wᵀKw} is the mean of K's diagonal on average, since no ReLU halves it. */
    static Tensor scaled(RandomGenerator random, Shape shape, DType type) {
        try (Scope scope = Scope.open()) {
            Tensor gaussian = Tensors.gaussian(random, shape, type);
            return scope.keep(Elementwise.mulInPlace(gaussian, Math.sqrt(1.0 / shape.at(0))));
        }
    }

    @Override
    public Var apply(Var matrices, Bindings parameters) {
        return SpdTransform.free(matrices, parameters.get("weight"));
    }
}
