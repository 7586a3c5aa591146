package org.gramian.backbone;

import org.gramian.autodiff.ParameterSpec.Initializer;
import org.gramian.tensor.Device;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Initializers of parameters, for networks that are trained from scratch. */
final class Initializers {
    private Initializers() {}

    /**
     * Returns He initialization: normal with variance 2 / fan-in (He et al., "Delving Deep into Rectifiers", ICCV
     * 2015).
     */
    static Initializer he() {
        return (random, shape, type) -> {
            long inputs = shape.elements() / shape.at(0);
            try (Scope scope = Scope.open()) {
                Tensor gaussian = Tensors.gaussian(random, shape, type);
                return scope.keep(Elementwise.mulInPlace(gaussian, Math.sqrt(2.0 / inputs)));
            }
        };
    }

    /** Returns initialization with a constant. */
    static Initializer constant(double value) {
        return (random, shape, type) -> Tensors.full(value, shape, type, Device.CPU);
    }
}
