package org.gramian.autodiff;

import java.util.random.RandomGenerator;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Specification of a parameter of a {@link Layer}.
 *
 * @param name name within the layer, such as {@code weight}
 * @param shape shape
 * @param role constraint and training
 * @param initial initializer
 * @since 0.1
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

    /** Computes the initial value of a parameter. */
    @FunctionalInterface
    public interface Initializer {
        /** Returns a CPU tensor of a shape and type. */
        Tensor make(RandomGenerator random, Shape shape, DType type);

        /** Returns initialization with a constant; NaN marks a value that is fitted later. */
        static Initializer constant(double value) {
            return (random, shape, type) -> Tensors.full(value, shape, type, Device.CPU);
        }

        /** Returns a normal distribution with mean 0. */
        static Initializer gaussian(double deviation) {
            return (random, shape, type) -> {
                try (Scope scope = Scope.open()) {
                    return scope.keep(Tensors.gaussian(random, shape, type).mulInPlace(deviation));
                }
            };
        }

        /**
         * Returns He initialization: normal with variance {@code 2 / fan-in} for shapes {@code [out, in, ...]} (He et
         * al., "Delving Deep into Rectifiers", ICCV 2015).
         */
        static Initializer he() {
            return (random, shape, type) -> {
                long fanIn = shape.elements() / shape.at(0);
                return gaussian(Math.sqrt(2.0 / fanIn)).make(random, shape, type);
            };
        }
    }

    /** Returns this parameter with a prefixed name. */
    public ParameterSpec under(String prefix) {
        return new ParameterSpec(prefix + "." + name, shape, role, initial);
    }
}
