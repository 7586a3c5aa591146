package org.gramian.autodiff;

import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * A named value that training changes, or that is fitted once: the holder stays, the tensor in it is replaced.
 *
 * <p>It owns its tensor, outside every scope, and frees it when it is closed.
 */
public final class Parameter implements AutoCloseable {
    private final ParameterSpec spec;
    private Tensor value;

    /** Takes over a tensor of the specified shape. */
    public Parameter(ParameterSpec spec, Tensor value) {
        this.spec = spec;
        this.value = owned(value);
    }

    public String name() {
        return spec.name();
    }

    public ParameterSpec spec() {
        return spec;
    }

    public Tensor value() {
        return value;
    }

    /** Replaces the value and frees the former one. */
    public void set(Tensor replacement) {
        Tensor former = value;
        value = owned(replacement);
        if (former != replacement) {
            former.close();
        }
    }

    private Tensor owned(Tensor tensor) {
        if (!tensor.shape().equals(spec.shape())) {
            throw new IllegalArgumentException(
                    "parameter " + spec.name() + " has the shape " + spec.shape() + ", found " + tensor);
        }
        Scope.detach(tensor);
        return tensor;
    }

    @Override
    public void close() {
        value.close();
    }

    @Override
    public String toString() {
        return spec.name() + " " + value;
    }
}
