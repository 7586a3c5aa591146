package org.gramian.tensor;

/** Activation function of a layer, {@code min(max(x, low), high)}; its derivative follows from its value. */
public enum Activation {
    /** Identity. */
    NONE(Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY),
    /** {@code max(x, 0)}; the derivative at 0 is 0. */
    RELU(0, Float.POSITIVE_INFINITY),
    /** {@code min(max(x, 0), 6)}, (Krizhevsky, 2010); the derivative at 0 and 6 is 0. */
    RELU6(0, 6);

    final float low;
    final float high;

    Activation(float low, float high) {
        this.low = low;
        this.high = high;
    }

    /** Returns the bits of the upper bound in bfloat16, above those of all finite numbers if there is none. */
    int highBits() {
        return high == Float.POSITIVE_INFINITY ? 0x8000 : Float.floatToIntBits(high) >>> 16;
    }

    /** Computes {@code x ← f(x)} and returns x. */
    public Tensor inPlace(Tensor x) {
        return switch (this) {
            case NONE -> x;
            case RELU -> Elementwise.reluInPlace(x);
            case RELU6 -> Elementwise.relu6InPlace(x);
        };
    }

    /** Computes the gradient of the input from the gradient g of the value y. */
    public Tensor backward(Tensor g, Tensor y) {
        return switch (this) {
            case NONE -> g;
            case RELU -> Elementwise.reluBackward(g, y);
            case RELU6 -> Elementwise.relu6Backward(g, y);
        };
    }
}
