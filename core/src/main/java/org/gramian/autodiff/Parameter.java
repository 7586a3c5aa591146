package org.gramian.autodiff;

import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;

/**
 * Named value that is trained or fitted; the tensor inside is replaced.
 *
 * <p>It owns its tensor outside every scope and frees it when closed.
 *
 * @since 0.1
 */
public final class Parameter implements AutoCloseable {
    private final ParameterSpec spec;
    private Tensor value;

    /**
     * Creates a parameter that takes ownership of a tensor.
     *
     * @param spec name, shape and role
     * @param value tensor of the specified shape
     */
    public Parameter(ParameterSpec spec, Tensor value) {
        this.spec = spec;
        this.value = owned(value);
    }

    /** Returns the name. */
    public String name() {
        return spec.name();
    }

    /** Returns the specification. */
    public ParameterSpec spec() {
        return spec;
    }

    /** Returns the current value. */
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
