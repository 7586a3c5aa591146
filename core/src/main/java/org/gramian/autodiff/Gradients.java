package org.gramian.autodiff;

import java.util.Map;
import org.gramian.tensor.Tensor;

/**
 * Gradients by variable; owns them until it is closed.
 *
 * <p>Two gradients may share memory, so they must not be modified.
 *
 * @since 0.1
 */
public final class Gradients implements AutoCloseable {
    private final Map<Var, Tensor> gradients;

    Gradients(Map<Var, Tensor> gradients) {
        this.gradients = gradients;
    }

    /**
     * Returns the gradient of a variable.
     *
     * @throws IllegalArgumentException if the differentiated value does not depend on it, or it is a constant
     */
    public Tensor of(Var variable) {
        Tensor gradient = gradients.get(variable);
        if (gradient == null) {
            throw new IllegalArgumentException("no gradient was computed for " + variable);
        }
        return gradient;
    }

    /** Removes the gradient of a variable from this object; the caller then owns it and closes it. */
    public Tensor release(Var variable) {
        Tensor gradient = of(variable);
        gradients.remove(variable);
        return gradient;
    }

    /** Returns whether the differentiated value depends on the variable. */
    public boolean has(Var variable) {
        return gradients.containsKey(variable);
    }

    @Override
    public void close() {
        gradients.values().forEach(Tensor::close);
        gradients.clear();
    }
}
