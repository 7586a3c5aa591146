package org.gramian.tensor;

/**
 * Activation function of a layer. Its derivative follows from its value or, see {@link #needsInput}, its input.
 *
 * @since 0.1
 */
public enum Activation {
    /** Identity. */
    NONE(Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY),
    /** {@code max(x, 0)}; the derivative at 0 is 0. */
    RELU(0, Float.POSITIVE_INFINITY),
    /** {@code min(max(x, 0), 6)}, (Krizhevsky, 2010); the derivative at 0 and 6 is 0. */
    RELU6(0, 6),
    /** {@code y = 1/(1 + e⁻ˣ)}, with derivative {@code y·(1 − y)}. */
    SIGMOID,
    /**
     * {@code min(max(x + 3, 0), 6)/6}, with derivative 1/6 strictly between −3 and 3, 0 elsewhere (Howard et al.,
     * "Searching for MobileNetV3", ICCV 2019).
     */
    HARD_SIGMOID,
    /**
     * {@code x·s} with {@code s = 1/(1 + e⁻ˣ)} and derivative {@code s·(1 + x·(1 − s))}, also named swish (Ramachandran
     * et al., "Searching for Activation Functions", 2017).
     */
    SILU,
    /**
     * {@code x·min(max(x + 3, 0), 6)/6}, with derivative 0 below −3, 1 above 3 and {@code x/3 + 1/2} between (Howard et
     * al., ICCV 2019).
     */
    HARD_SWISH;

    private final float low;
    private final float high;

    /** Creates {@code min(max(x, low), high)}. */
    Activation(float low, float high) {
        this.low = low;
        this.high = high;
    }

    /** Creates a function that is no clamp. */
    Activation() {
        this(Float.NaN, Float.NaN);
    }

    /** ATen's operators f with a given output, f_ and f_backward. */
    private record Operators(Operator value, Operator inPlace, Operator backward) {
        static final Operators SIGMOID = of("sigmoid");
        static final Operators HARD_SIGMOID = of("hardsigmoid");
        static final Operators SILU = of("silu");
        static final Operators HARD_SWISH = of("hardswish");

        private static Operators of(String name) {
            return new Operators(Operator.of(name, "out"), Operator.of(name + "_"), Operator.of(name + "_backward"));
        }
    }

    private Operators operators() {
        return switch (this) {
            case NONE, RELU, RELU6 -> throw new IllegalStateException(this + " is a clamp");
            case SIGMOID -> Operators.SIGMOID;
            case HARD_SIGMOID -> Operators.HARD_SIGMOID;
            case SILU -> Operators.SILU;
            case HARD_SWISH -> Operators.HARD_SWISH;
        };
    }

    /** Returns whether it is {@code min(max(x, low), high)}. */
    public boolean isClamp() {
        return !Float.isNaN(low);
    }

    /** Returns the lower bound of a clamp. */
    public float low() {
        return low;
    }

    /** Returns the upper bound of a clamp. */
    public float high() {
        return high;
    }

    /** Returns whether {@link #backward} needs the input x instead of the value y. */
    public boolean needsInput() {
        return this == SILU || this == HARD_SWISH;
    }

    /** Computes {@code f(x)}; returns x itself for the identity. */
    public Tensor apply(Tensor x) {
        return switch (this) {
            case NONE -> x;
            case RELU -> x.relu();
            case RELU6 -> x.copy().relu6InPlace();
            default -> {
                try (Scope scope = Scope.open()) {
                    // the strides of x even for sizes of 1, so that convolutions round as after inPlace
                    Tensor y = x.isDense() ? Tensors.emptyLike(x) : Tensors.empty(x.shape(), x);
                    yield scope.keep(operators().value.call(x, y));
                }
            }
        };
    }

    /** Computes {@code x ← f(x)} and returns x. */
    public Tensor inPlace(Tensor x) {
        return switch (this) {
            case NONE -> x;
            case RELU -> x.reluInPlace();
            case RELU6 -> x.relu6InPlace();
            default -> operators().inPlace.inPlace(x);
        };
    }

    /**
     * Computes the gradient of the input.
     *
     * @param g gradient of the value
     * @param saved input x if {@link #needsInput}, else value y
     */
    public Tensor backward(Tensor g, Tensor saved) {
        return switch (this) {
            case NONE -> g;
            case RELU -> g.reluBackward(saved);
            case RELU6 -> g.relu6Backward(saved);
            case HARD_SIGMOID -> hardSigmoidBackward(g, saved);
            default -> operators().backward.call(g, saved);
        };
    }

    /** Not ATen's operator, whose 1/6 is a float32 for float64 too. */
    private static Tensor hardSigmoidBackward(Tensor g, Tensor y) {
        try (Scope scope = Scope.open()) {
            Tensor product = y.mul(-1).add(1).mulInPlace(y); // 0 at 0 and 1
            return scope.keep(Tensors.where(product.greater(0), g.mul(1.0 / 6), 0));
        }
    }
}
