package org.gramian.autodiff;

import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Tensor;

/**
 * What ends a layer of a network, element by element; each is written over its input, and its derivative follows from
 * its value.
 */
public enum Activation {
    /** {@code x} itself. */
    NONE,
    /** {@code max(x, 0)}; the derivative at 0 is 0. */
    RELU,
    /** {@code min(max(x, 0), 6)}, as in networks for small devices (Krizhevsky, 2010); the derivative at 0 and 6 is 0. */
    RELU6;

    Tensor inPlace(Tensor x) {
        return switch (this) {
            case NONE -> x;
            case RELU -> Elementwise.reluInPlace(x);
            case RELU6 -> Elementwise.relu6InPlace(x);
        };
    }

    /** The gradient of the input for that of the value {@code y}. */
    Tensor backward(Tensor g, Tensor y) {
        return switch (this) {
            case NONE -> g;
            case RELU -> Elementwise.reluBackward(g, y);
            case RELU6 -> Elementwise.relu6Backward(g, y);
        };
    }
}
