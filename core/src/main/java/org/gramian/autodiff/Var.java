package org.gramian.autodiff;

import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/** A tensor on a {@link Tape}: a value and its place in the computation. */
public final class Var {
    private final Tape tape;
    private final Tensor value;
    private final boolean wantsGradient;

    Var(Tape tape, Tensor value, boolean wantsGradient) {
        this.tape = tape;
        this.value = value;
        this.wantsGradient = wantsGradient;
    }

    /** The value; it lives as long as the tape, or until the backward pass has gone by it. */
    public Tensor value() {
        return value;
    }

    public Shape shape() {
        return value.shape();
    }

    public Tape tape() {
        return tape;
    }

    /** Whether a gradient flows to this variable: it is one that asked for it, or depends on such. */
    public boolean wantsGradient() {
        return wantsGradient;
    }

    @Override
    public String toString() {
        return "Var " + value;
    }
}
