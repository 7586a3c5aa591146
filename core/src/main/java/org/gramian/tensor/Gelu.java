package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.invoke.MethodHandle;
import org.gramian.tensor.library.Libtorch;

/**
 * Gaussian error linear unit, {@code x·Φ(x)} with the distribution function Φ of the normal distribution (Hendrycks and
 * Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415).
 *
 * @since 0.1
 */
public enum Gelu {
    /** {@code x·(1 + erf(x/√2))/2}, exact. */
    ERF("none"),
    /** {@code x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2}, the approximation of section 2. */
    TANH("tanh");

    private static final double ROOT_2 = Math.sqrt(2);
    private static final double ROOT_2_PI = Math.sqrt(2 * Math.PI);
    private static final double SLOPE = Math.sqrt(2 / Math.PI);
    private static final double CUBIC = 0.044715;

    private static final class Operators {
        static final Operator ERF_IN_PLACE = Operator.of("erf_");
        static final Operator TANH_IN_PLACE = Operator.of("tanh_");
        static final Operator GELU = Operator.of("gelu");
        static final Operator GELU_BACKWARD = Operator.of("gelu_backward");
    }

    private final String approximate;

    Gelu(String approximate) {
        this.approximate = approximate;
    }

    /** Computes the function element by element; {@link DType#BF16} is computed in float32 and rounded. */
    public Tensor apply(Tensor x) {
        if (Libtorch.load().hasLists()) { // the dispatcher takes the text since then
            return Operators.GELU.call(x, approximate);
        }
        if (this == ERF && x.device().kind() == Device.Kind.CPU) {
            return Fused.apply(x);
        }
        try (Scope scope = Scope.open()) {
            Tensor exact = exact(x);
            return scope.keep(share(exact).mulInPlace(exact).to(x.type()));
        }
    }

    /**
     * GELU of libtorch's CPU before 2.10, in one pass: {@code gelu(x + A·B)} with a product over no elements, whose
     * arguments are no text.
     */
    private static final class Fused {
        private static final MethodHandle SUM = DeviceFunctions.function(
                "aoti_torch_cpu__addmm_activation",
                ADDRESS,
                ADDRESS,
                ADDRESS,
                JAVA_DOUBLE,
                JAVA_DOUBLE,
                JAVA_INT,
                ADDRESS);

        static Tensor apply(Tensor x) {
            Checks.floating("gelu", x);
            long columns = x.size(-1);
            try (Scope scope = Scope.open()) {
                Tensor rows = x.reshape(x.shape().elements() / Math.max(1, columns), columns);
                Tensor a = Tensors.zeros(Shape.of(rows.size(0), 0), x.type(), x.device());
                Tensor b = Tensors.zeros(Shape.of(0, columns), x.type(), x.device());
                Tensor y = DeviceFunctions.result(
                        "gelu",
                        (arena, out) -> (int) SUM.invokeExact(rows.handle(), a.handle(), b.handle(), 1.0, 1.0, 1, out),
                        x);
                return scope.keep(y.reshape(x.shape().sizes()));
            }
        }
    }

    /**
     * Computes the gradient {@code g·(s + x·s′)}, where {@code y = x·s(x)}.
     *
     * @param g gradient of the value
     * @param x argument of the function
     */
    public Tensor backward(Tensor g, Tensor x) {
        if (Libtorch.load().hasLists()) {
            return Operators.GELU_BACKWARD.call(g, x, approximate);
        }
        try (Scope scope = Scope.open()) {
            Tensor exact = exact(x);
            Tensor share = share(exact);
            Tensor derivative = share.add(slope(exact, share).mulInPlace(exact));
            return scope.keep(derivative.mulInPlace(g.to(exact.type())).to(g.type()));
        }
    }

    private static Tensor exact(Tensor x) {
        Checks.floating("gelu", x);
        return x.type() == DType.BF16 ? x.to(DType.F32) : x;
    }

    /** Computes {@code s = (1 + f(x))/2}. */
    private Tensor share(Tensor x) {
        Tensor odd = switch (this) {
            case ERF -> Operators.ERF_IN_PLACE.inPlace(x.mul(1 / ROOT_2));
            case TANH -> {
                Tensor factor = x.mul(x).mul(SLOPE * CUBIC).add(SLOPE);
                yield Operators.TANH_IN_PLACE.inPlace(factor.mulInPlace(x));
            }
        };
        return odd.add(1).mulInPlace(0.5);
    }

    /** Computes {@code s′}: the normal density, or {@code 2·s·(1 − s)·√(2/π)·(1 + 3·0.044715·x²)}. */
    private Tensor slope(Tensor x, Tensor share) {
        Tensor squares = x.mul(x);
        return switch (this) {
            case ERF -> squares.mulInPlace(-0.5).expInPlace().mulInPlace(1 / ROOT_2_PI);
            case TANH -> {
                Tensor inner = squares.mulInPlace(6 * SLOPE * CUBIC).add(2 * SLOPE);
                Tensor both = share.sub(share.mul(share));
                yield both.mulInPlace(inner);
            }
        };
    }
}
