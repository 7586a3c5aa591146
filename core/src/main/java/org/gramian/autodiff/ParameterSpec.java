package org.gramian.autodiff;

import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * Specification of a parameter of a {@link Layer}.
 *
 * @param name name within the layer, such as {@code weight}
 * @param shape shape
 * @param role constraint and training
 * @param initial initializer
 */
public record ParameterSpec(String name, Shape shape, Role role, Initializer initial) {
    /** Constraint of a parameter and how it is trained. */
    public enum Role {
        /** Unconstrained, with weight decay. */
        WEIGHT,
        /** Unconstrained without weight decay: biases and scales. */
        BIAS,
        /** Matrix with orthonormal columns: Riemannian gradient descent without weight decay. */
        STIEFEL,
        /** Fixed, or fitted to data once; not trained. */
        FITTED
    }

    /** Makes the first value of a parameter. */
    @FunctionalInterface
    public interface Initializer {
        Tensor make(RandomGenerator random, Shape shape, DType type);
    }

    /** Returns this parameter with a prefixed name. */
    public ParameterSpec under(String prefix) {
        return new ParameterSpec(prefix + "." + name, shape, role, initial);
    }
}
