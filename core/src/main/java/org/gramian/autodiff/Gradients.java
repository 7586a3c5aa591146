package org.gramian.autodiff;

import java.util.Map;
import org.gramian.tensor.Tensor;

/**
 * Gradients by variable, owned by this object until it is closed.
 *
 * <p>Two of them may share memory, so do not write into them.
 */
public final class Gradients implements AutoCloseable {
    private final Map<Var, Tensor> gradients;

    Gradients(Map<Var, Tensor> gradients) {
        this.gradients = gradients;
    }

    /**
     * The gradient of a variable.
     *
     * @throws IllegalArgumentException if the differentiated value does not depend on it, or it asked for none
     */
    public Tensor of(Var variable) {
        Tensor gradient = gradients.get(variable);
        if (gradient == null) {
            throw new IllegalArgumentException("no gradient was computed for " + variable);
        }
        return gradient;
    }

    /** Takes the gradient of a variable out: from then on it belongs to the caller, who closes it. */
    public Tensor release(Var variable) {
        Tensor gradient = of(variable);
        gradients.remove(variable);
        return gradient;
    }

    /** Whether a gradient reached the variable. */
    public boolean has(Var variable) {
        return gradients.containsKey(variable);
    }

    @Override
    public void close() {
        gradients.values().forEach(Tensor::close);
        gradients.clear();
    }
}
