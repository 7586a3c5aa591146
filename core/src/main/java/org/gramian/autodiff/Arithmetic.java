package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/** Differentiable element-wise functions with broadcasting, and sums. */
public final class Arithmetic {
    private Arithmetic() {}

    /** Computes {@code a + b}. */
    public static Var add(Var a, Var b) {
        return binary(a, b, Elementwise::add, g -> g, g -> g);
    }

    /** Computes {@code a − b}. */
    public static Var sub(Var a, Var b) {
        return binary(a, b, Elementwise::sub, g -> g, g -> Elementwise.mul(g, -1));
    }

    /** Computes {@code a·b} element by element. */
    public static Var mul(Var a, Var b) {
        return binary(a, b, Elementwise::mul, g -> Elementwise.mul(g, b.value()), g -> Elementwise.mul(g, a.value()));
    }

    /** Computes {@code a / b} element by element. */
    public static Var div(Var a, Var b) {
        return a.tape().apply(List.of(a, b), () -> {
            Tensor quotient = Elementwise.div(a.value(), b.value());
            return Result.of(quotient, (g, wanted) -> {
                Tensor ofA = Elementwise.div(g, b.value());
                Tensor ofB = Elementwise.mul(Elementwise.mul(ofA, quotient), -1);
                return list(sumTo(ofA, a.shape()), sumTo(ofB, b.shape()));
            });
        });
    }

    /** Computes {@code factor·x}. */
    public static Var scale(Var x, double factor) {
        return unary(x, v -> Elementwise.mul(v, factor), (g, y) -> Elementwise.mul(g, factor));
    }

    /** Computes {@code x + value}. */
    public static Var shift(Var x, double value) {
        return unary(x, v -> Elementwise.add(v, value), (g, y) -> g);
    }

    /** Computes {@code exp(x)}. */
    public static Var exp(Var x) {
        return unary(x, Elementwise::exp, (g, y) -> Elementwise.mul(g, y));
    }

    /** Computes {@code log(x)}. */
    public static Var log(Var x) {
        return unary(x, Elementwise::log, (g, y) -> Elementwise.div(g, x.value()));
    }

    /** Computes {@code √x}. */
    public static Var sqrt(Var x) {
        return unary(x, Elementwise::sqrt, (g, y) -> Elementwise.mul(Elementwise.div(g, y), 0.5));
    }

    /** Computes {@code x^exponent}; with exponent 0 it is 1 everywhere, with gradient 0. */
    public static Var pow(Var x, double exponent) {
        if (exponent == 0) {
            return shift(scale(x, 0), 1);
        }
        return unary(
                x,
                v -> Elementwise.pow(v, exponent),
                (g, y) -> Elementwise.mul(Elementwise.mul(g, Elementwise.pow(x.value(), exponent - 1)), exponent));
    }

    /** Computes the error function; its derivative is {@code 2/√π·exp(−x²)}. */
    public static Var erf(Var x) {
        return unary(x, Elementwise::erf, (g, y) -> {
            Tensor bell = Elementwise.expInPlace(Elementwise.mul(Elementwise.mul(x.value(), x.value()), -1));
            return Elementwise.mulInPlace(Elementwise.mul(bell, g), 2 / Math.sqrt(Math.PI));
        });
    }

    /** Computes {@code tanh(x)}; its derivative is {@code 1 − tanh²(x)}. */
    public static Var tanh(Var x) {
        return unary(x, Elementwise::tanh, (g, y) -> Elementwise.sub(g, Elementwise.mul(g, Elementwise.mul(y, y))));
    }

    /** Computes {@code |x|}; the derivative at 0 is 0. */
    public static Var abs(Var x) {
        return unary(x, Elementwise::abs, (g, y) -> Elementwise.mul(g, Elementwise.sign(x.value())));
    }

    /** Computes {@code min(max(x, low), high)}; the derivative at the bounds is 1. */
    public static Var clip(Var x, double low, double high) {
        return unary(
                x,
                v -> Elementwise.clip(v, low, high),
                (g, y) -> Elementwise.where(Elementwise.equal(x.value(), y), g, 0));
    }

    /** Computes {@code x} where it is positive, {@code slope·x} elsewhere. */
    public static Var leakyRelu(Var x, double slope) {
        return unary(x, v -> leaky(v, v, slope), (g, y) -> leaky(g, x.value(), slope));
    }

    private static Tensor leaky(Tensor values, Tensor x, double slope) {
        return Elementwise.where(Elementwise.greater(x, 0), values, Elementwise.mul(values, slope));
    }

    /** Selects {@code a} where the condition holds, {@code b} elsewhere. */
    public static Var where(Tensor condition, Var a, Var b) {
        return a.tape()
                .apply(
                        List.of(a, b),
                        () -> Result.of(Elementwise.where(condition, a.value(), b.value()), (g, wanted) -> {
                            Tensor ofA = Elementwise.where(condition, g, 0);
                            return list(
                                    sumTo(ofA, a.shape()),
                                    wanted[1] ? sumTo(Elementwise.sub(g, ofA), b.shape()) : null);
                        }));
    }

    /** Computes {@code max(x, 0)}; the derivative at 0 is 0. */
    public static Var relu(Var x) {
        return unary(x, Elementwise::relu, (g, y) -> Elementwise.reluBackward(g, y));
    }

    /** Computes the activation {@code f(x)}. */
    public static Var activate(Var x, Activation activation) {
        return activation == Activation.NONE
                ? x
                : unary(
                        x,
                        activation::apply,
                        (g, y) -> activation.backward(g, activation.needsInput() ? x.value() : y));
    }

    /** Converts to another floating-point type; the gradient has the type of x. */
    public static Var cast(Var x, DType type) {
        if (!type.isFloating()) {
            throw new IllegalArgumentException("cast: expected a floating-point type, found " + type);
        }
        DType own = x.value().type();
        return own == type ? x : unary(x, v -> Tensors.to(v, type), (g, y) -> Tensors.to(g, own));
    }

    /** Sums all elements. */
    public static Var sum(Var x) {
        return unary(x, Reductions::sum, (g, y) -> {
            Tensor ones = Tensors.full(1, x.shape(), g.type(), g.device());
            return Elementwise.mulInPlace(ones, g);
        });
    }

    /** Sums over dimensions, which keep size 1. */
    public static Var sum(Var x, int... dimensions) {
        return unary(
                x,
                v -> Reductions.sum(v, dimensions),
                (g, y) -> Views.expand(g, x.shape().sizes()));
    }

    /** Averages all elements. */
    public static Var mean(Var x) {
        return scale(sum(x), 1.0 / x.shape().elements());
    }

    /**
     * Applies a function of one variable.
     *
     * @param function computes the value y
     * @param adjoint computes the gradient of x from the gradient g of y, and y
     */
    public static Var unary(Var x, UnaryOperator<Tensor> function, BinaryOperator<Tensor> adjoint) {
        return x.tape().apply(List.of(x), () -> {
            Tensor y = function.apply(x.value());
            return Result.of(y, (g, wanted) -> list(adjoint.apply(g, y)));
        });
    }

    /** Applies a broadcasting function; the gradients of both operands are summed to their shapes. */
    private static Var binary(
            Var a,
            Var b,
            BinaryOperator<Tensor> function,
            UnaryOperator<Tensor> gradientOfA,
            UnaryOperator<Tensor> gradientOfB) {
        return a.tape().apply(List.of(a, b), () -> {
            Tensor y = function.apply(a.value(), b.value());
            return Result.of(
                    y,
                    (g, wanted) -> list(
                            wanted[0] ? sumTo(gradientOfA.apply(g), a.shape()) : null,
                            wanted[1] ? sumTo(gradientOfB.apply(g), b.shape()) : null));
        });
    }

    /** Sums a gradient over the dimensions along which a value of the given shape was broadcast. */
    static Tensor sumTo(Tensor gradient, Shape shape) {
        if (gradient.shape().equals(shape)) {
            return gradient;
        }
        int extra = gradient.shape().rank() - shape.rank();
        int[] repeated = IntStream.range(0, gradient.shape().rank())
                .filter(i -> i < extra || shape.at(i - extra) != gradient.size(i))
                .toArray();
        return Views.reshape(Reductions.sum(gradient, repeated), shape.sizes());
    }
}
