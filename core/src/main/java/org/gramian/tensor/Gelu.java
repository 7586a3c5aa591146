package org.gramian.tensor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.invoke.MethodHandle;
import org.gramian.tensor.library.Libtorch;

/**
 * Gaussian error linear unit, {@code x·Φ(x)} with the distribution function Φ of the normal distribution (Hendrycks and
 * Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415).
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
            return scope.keep(Tensors.to(Elementwise.mulInPlace(share(exact), exact), x.type()));
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
                Tensor rows = Views.reshape(x, x.shape().elements() / Math.max(1, columns), columns);
                Tensor a = Tensors.zeros(Shape.of(rows.size(0), 0), x.type(), x.device());
                Tensor b = Tensors.zeros(Shape.of(0, columns), x.type(), x.device());
                Tensor y = DeviceFunctions.result(
                        "gelu",
                        (arena, out) -> (int) SUM.invokeExact(rows.handle(), a.handle(), b.handle(), 1.0, 1.0, 1, out),
                        x);
                return scope.keep(Views.reshape(y, x.shape().sizes()));
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
            Tensor derivative = Elementwise.add(share, Elementwise.mulInPlace(slope(exact, share), exact));
            return scope.keep(Tensors.to(Elementwise.mulInPlace(derivative, Tensors.to(g, exact.type())), g.type()));
        }
    }

    private static Tensor exact(Tensor x) {
        Checks.floating("gelu", x);
        return x.type() == DType.BF16 ? Tensors.to(x, DType.F32) : x;
    }

    /** Computes {@code s = (1 + f(x))/2}. */
    private Tensor share(Tensor x) {
        Tensor odd = switch (this) {
            case ERF -> Operators.ERF_IN_PLACE.inPlace(Elementwise.mul(x, 1 / ROOT_2));
            case TANH -> {
                Tensor factor = Elementwise.add(Elementwise.mul(Elementwise.mul(x, x), SLOPE * CUBIC), SLOPE);
                yield Operators.TANH_IN_PLACE.inPlace(Elementwise.mulInPlace(factor, x));
            }
        };
        return Elementwise.mulInPlace(Elementwise.add(odd, 1), 0.5);
    }

    /** Computes {@code s′}: the normal density, or {@code 2·s·(1 − s)·√(2/π)·(1 + 3·0.044715·x²)}. */
    private Tensor slope(Tensor x, Tensor share) {
        Tensor squares = Elementwise.mul(x, x);
        return switch (this) {
            case ERF ->
                Elementwise.mulInPlace(Elementwise.expInPlace(Elementwise.mulInPlace(squares, -0.5)), 1 / ROOT_2_PI);
            case TANH -> {
                Tensor inner = Elementwise.add(Elementwise.mulInPlace(squares, 6 * SLOPE * CUBIC), 2 * SLOPE);
                Tensor both = Elementwise.sub(share, Elementwise.mul(share, share));
                yield Elementwise.mulInPlace(both, inner);
            }
        };
    }
}
