package org.gramian.autodiff;

import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;

/** Tensor on a {@link Tape}: a value and its position in the computation. */
public final class Var {
    private final Tape tape;
    private final Tensor value;
    private final boolean wantsGradient;
    private final boolean leaf;

    /** @param leaf whether it is a variable or constant, not the value of a function */
    Var(Tape tape, Tensor value, boolean wantsGradient, boolean leaf) {
        this.tape = tape;
        this.value = value;
        this.wantsGradient = wantsGradient;
        this.leaf = leaf;
    }

    /** Returns the value, valid until the tape is closed or the backward pass has freed it. */
    public Tensor value() {
        return value;
    }

    /** Returns the shape of the value. */
    public Shape shape() {
        return value.shape();
    }

    /** Returns the tape of this variable. */
    public Tape tape() {
        return tape;
    }

    /** Returns whether this is a variable with a gradient or depends on one. */
    public boolean wantsGradient() {
        return wantsGradient;
    }

    boolean isLeaf() {
        return leaf;
    }

    @Override
    public String toString() {
        return "Var " + value;
    }
}
