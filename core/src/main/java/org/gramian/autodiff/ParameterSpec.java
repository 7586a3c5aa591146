package org.gramian.autodiff;

import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/**
 * What a {@link Layer} says of one of its parameters before it has a value.
 *
 * @param name the name within the layer, as {@code weight}
 * @param shape sizes
 * @param role where the parameter lives and whether training moves it
 * @param initial how its first value is made
 */
public record ParameterSpec(String name, Shape shape, Role role, Initializer initial) {
    /** Where a parameter lives. */
    public enum Role {
        /** Any value: plain gradient descent, with weight decay. */
        WEIGHT,
        /** Any value, no weight decay: biases and scales. */
        BIAS,
        /** A matrix with orthonormal columns: Riemannian gradient descent, no weight decay. */
        STIEFEL,
        /** Fixed, or fitted to data once; not trained. */
        FITTED
    }

    /** Makes the first value of a parameter. */
    @FunctionalInterface
    public interface Initializer {
        Tensor make(RandomGenerator random, Shape shape, DType type);
    }

    /** The same parameter under a longer name. */
    public ParameterSpec under(String prefix) {
        return new ParameterSpec(prefix + "." + name, shape, role, initial);
    }
}
