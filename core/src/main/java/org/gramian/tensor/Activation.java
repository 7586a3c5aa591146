package org.gramian.tensor;

/**
 * What ends a layer of a network, element by element: {@code min(max(x, low), high)}. Each is written over its input, and its
 * derivative follows from its value.
 */
public enum Activation {
    /** {@code x} itself. */
    NONE(Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY),
    /** {@code max(x, 0)}; the derivative at 0 is 0. */
    RELU(0, Float.POSITIVE_INFINITY),
    /** {@code min(max(x, 0), 6)}, as in networks for small devices (Krizhevsky, 2010); the derivative at 0 and 6 is 0. */
    RELU6(0, 6);

    final float low;
    final float high;

    Activation(float low, float high) {
        this.low = low;
        this.high = high;
    }

    /** The bits of the upper bound in BF16; above those of all finite numbers where there is none. */
    int highBits() {
        return high == Float.POSITIVE_INFINITY ? 0x8000 : Float.floatToIntBits(high) >>> 16;
    }

    /** Writes the value over {@code x} and returns it. */
    public Tensor inPlace(Tensor x) {
        return switch (this) {
            case NONE -> x;
            case RELU -> Elementwise.reluInPlace(x);
            case RELU6 -> Elementwise.relu6InPlace(x);
        };
    }

    /** The gradient of the input for that of the value {@code y}. */
    public Tensor backward(Tensor g, Tensor y) {
        return switch (this) {
            case NONE -> g;
            case RELU -> Elementwise.reluBackward(g, y);
            case RELU6 -> Elementwise.relu6Backward(g, y);
        };
    }
}
