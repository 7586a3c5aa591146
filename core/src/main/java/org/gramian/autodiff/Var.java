package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.tensor.Activation;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.jspecify.annotations.Nullable;

/**
 * Tensor on a {@link Tape}: a value and its position in the computation.
 *
 * <p>Its methods are differentiable functions, recorded on the tape; those of two variables broadcast as the ones of
 * {@link Tensor}. In formulas this variable is {@code x} or {@code a}.
 *
 * @since 0.1
 */
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

    /** Computes {@code a + b}. */
    public Var add(Var b) {
        return binary(b, Tensor::add, g -> g, g -> g);
    }

    /** Computes {@code x + number}. */
    public Var add(double number) {
        return map(v -> v.add(number), (g, y) -> g);
    }

    /** Computes {@code a − b}. */
    public Var sub(Var b) {
        return binary(b, Tensor::sub, g -> g, g -> g.mul(-1));
    }

    /** Computes {@code a·b} element by element. */
    public Var mul(Var b) {
        return binary(b, Tensor::mul, g -> g.mul(b.value), g -> g.mul(value));
    }

    /** Computes {@code factor·x}. */
    public Var mul(double factor) {
        return map(v -> v.mul(factor), (g, y) -> g.mul(factor));
    }

    /** Computes {@code a / b} element by element. */
    public Var div(Var b) {
        return tape.apply(List.of(this, b), () -> {
            Tensor quotient = value.div(b.value);
            return Result.of(quotient, (g, wanted) -> {
                Tensor ofA = g.div(b.value);
                Tensor ofB = ofA.mul(quotient).mul(-1);
                return list(sumTo(ofA, shape()), sumTo(ofB, b.shape()));
            });
        });
    }

    /** Computes {@code exp(x)}. */
    public Var exp() {
        return map(Tensor::exp, Tensor::mul);
    }

    /** Computes {@code log(x)}. */
    public Var log() {
        return map(Tensor::log, (g, y) -> g.div(value));
    }

    /** Computes {@code √x}. */
    public Var sqrt() {
        return map(Tensor::sqrt, (g, y) -> g.div(y).mul(0.5));
    }

    /** Computes {@code x^exponent}; with exponent 0 it is 1 everywhere, with gradient 0. */
    public Var pow(double exponent) {
        if (exponent == 0) {
            return mul(0).add(1);
        }
        return map(
                v -> v.pow(exponent), (g, y) -> g.mul(value.pow(exponent - 1)).mul(exponent));
    }

    /** Computes the error function; its derivative is {@code 2/√π·exp(−x²)}. */
    public Var erf() {
        return map(Tensor::erf, (g, y) -> {
            Tensor bell = value.mul(value).mul(-1).expInPlace();
            return bell.mul(g).mulInPlace(2 / Math.sqrt(Math.PI));
        });
    }

    /** Computes {@code tanh(x)}; its derivative is {@code 1 − tanh²(x)}. */
    public Var tanh() {
        return map(Tensor::tanh, (g, y) -> g.sub(g.mul(y.mul(y))));
    }

    /** Computes {@code |x|}; the derivative at 0 is 0. */
    public Var abs() {
        return map(Tensor::abs, (g, y) -> g.mul(value.sign()));
    }

    /** Computes {@code min(max(x, low), high)}; the derivative at the bounds is 1. */
    public Var clip(double low, double high) {
        return map(v -> v.clip(low, high), (g, y) -> Tensors.where(value.equal(y), g, 0));
    }

    /** Computes {@code max(x, 0)}; the derivative at 0 is 0. */
    public Var relu() {
        return map(Tensor::relu, Tensor::reluBackward);
    }

    /** Computes {@code x} where it is positive, {@code slope·x} elsewhere. */
    public Var leakyRelu(double slope) {
        return map(v -> leaky(v, v, slope), (g, y) -> leaky(g, value, slope));
    }

    private static Tensor leaky(Tensor values, Tensor x, double slope) {
        return Tensors.where(x.greater(0), values, values.mul(slope));
    }

    /** Computes the activation {@code f(x)}. */
    public Var activate(Activation activation) {
        return activation == Activation.NONE
                ? this
                : map(activation::apply, (g, y) -> activation.backward(g, activation.needsInput() ? value : y));
    }

    /** Selects {@code a} where the condition holds, {@code b} elsewhere. */
    public static Var where(Tensor condition, Var a, Var b) {
        return a.tape.apply(
                List.of(a, b),
                () -> Result.of(Tensors.where(condition, a.value, b.value), (g, wanted) -> {
                    Tensor ofA = Tensors.where(condition, g, 0);
                    return list(sumTo(ofA, a.shape()), wanted[1] ? sumTo(g.sub(ofA), b.shape()) : null);
                }));
    }

    /**
     * Applies a function of one variable.
     *
     * @param function computes the value y
     * @param adjoint computes the gradient of x from the gradient g of y, and y
     */
    public Var map(UnaryOperator<Tensor> function, BinaryOperator<Tensor> adjoint) {
        return tape.apply(List.of(this), () -> {
            Tensor y = function.apply(value);
            return Result.of(y, (g, wanted) -> list(adjoint.apply(g, y)));
        });
    }

    /** Applies a broadcasting function; the gradients of both operands are summed to their shapes. */
    private Var binary(
            Var b,
            BinaryOperator<Tensor> function,
            UnaryOperator<Tensor> gradientOfA,
            UnaryOperator<Tensor> gradientOfB) {
        return tape.apply(List.of(this, b), () -> {
            Tensor y = function.apply(value, b.value);
            return Result.of(
                    y,
                    (g, wanted) -> list(
                            wanted[0] ? sumTo(gradientOfA.apply(g), shape()) : null,
                            wanted[1] ? sumTo(gradientOfB.apply(g), b.shape()) : null));
        });
    }

    /** Sums a gradient over the dimensions along which a value of the given shape was broadcast. */
    private static Tensor sumTo(Tensor gradient, Shape shape) {
        if (gradient.shape().equals(shape)) {
            return gradient;
        }
        int extra = gradient.shape().rank() - shape.rank();
        int[] repeated = IntStream.range(0, gradient.shape().rank())
                .filter(i -> i < extra || shape.at(i - extra) != gradient.size(i))
                .toArray();
        return gradient.sum(repeated).reshape(shape.sizes());
    }

    /**
     * Computes {@code A·B} of matrices or batches; a single matrix is broadcast over a batch.
     *
     * <p>Backward: {@code dA = G·Bᵀ}, {@code dB = Aᵀ·G}, summed over the batch for a broadcast matrix.
     */
    public Var matmul(Var b) {
        return tape.apply(
                List.of(this, b),
                () -> Result.of(
                        value.matmul(b.value),
                        (g, wanted) -> list(
                                wanted[0] ? left(g, value, b.value) : null,
                                wanted[1] ? right(g, value, b.value) : null)));
    }

    /** Computes {@code dA = G·Bᵀ}, summed over the batch if A is one matrix. */
    private static Tensor left(Tensor g, Tensor a, Tensor b) {
        boolean broadcast = a.shape().rank() == 2 && b.shape().rank() == 3;
        return broadcast ? g.sumOfProducts(b.transpose()) : g.matmul(b.transpose());
    }

    /** Computes {@code dB = Aᵀ·G}, summed over the batch if B is one matrix. */
    private static Tensor right(Tensor g, Tensor a, Tensor b) {
        boolean broadcast = b.shape().rank() == 2 && a.shape().rank() == 3;
        return broadcast ? a.transpose().sumOfProducts(g) : a.transpose().matmul(g);
    }

    /**
     * Computes {@code x·Wᵀ + b} of rows {@code [n, d]}.
     *
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     * @return {@code [n, k]}
     */
    public Var linear(Var weight, Var bias) {
        return tape.apply(List.of(this, weight, bias), () -> {
            // not Tensor.linear: cuBLAS splits long sums of small results only in a product without bias
            Tensor product = value.matmul(weight.value.transpose());
            return Result.of(product.add(bias.value), (g, wanted) -> {
                List<@Nullable Tensor> ofParameters = tape.parameterGradients(
                        List.of(weight, bias),
                        List.of(g, value),
                        () -> list(wanted[1] ? g.transpose().matmul(value) : null, wanted[2] ? g.columnSums() : null));
                return list(wanted[0] ? g.matmul(weight.value) : null, ofParameters.get(0), ofParameters.get(1));
            });
        });
    }

    /** Sums all elements. */
    public Var sum() {
        return map(
                Tensor::sum,
                (g, y) -> Tensors.full(1, shape(), g.type(), g.device()).mulInPlace(g));
    }

    /** Sums over dimensions, which keep size 1. */
    public Var sum(int... dimensions) {
        return map(v -> v.sum(dimensions), (g, y) -> g.expand(shape().sizes()));
    }

    /** Averages all elements. */
    public Var mean() {
        return sum().mul(1.0 / shape().elements());
    }

    /** Reshapes in row-major order. */
    public Var reshape(long... sizes) {
        return map(v -> v.reshape(sizes), (g, y) -> g.reshape(shape().sizes()));
    }

    /** Swaps two dimensions. */
    public Var transpose(int first, int second) {
        return map(v -> v.transpose(first, second), (g, y) -> g.transpose(first, second));
    }

    /** Reorders dimensions: dimension i of the result is dimension {@code order[i]} of x. */
    public Var permute(int... order) {
        int[] inverse = new int[order.length];
        for (int i = 0; i < order.length; i++) {
            inverse[order[i]] = i;
        }
        return map(v -> v.permute(order), (g, y) -> g.permute(inverse));
    }

    /** Splits one dimension into several of the given sizes, without copying. */
    public Var split(int dimension, long... sizes) {
        return map(v -> v.split(dimension, sizes), (g, y) -> g.reshape(shape().sizes()));
    }

    /** Repeats dimensions of size 1 to the given sizes, without copying. */
    public Var expand(long... sizes) {
        return map(v -> v.expand(sizes), (g, y) -> sumTo(g, shape()));
    }

    /** Returns the elements from {@code start} (inclusive) to {@code end} (exclusive) along one dimension. */
    public Var slice(int dimension, long start, long end) {
        return map(v -> v.slice(dimension, start, end), (g, y) -> {
            Tensor gradient = Tensors.zeros(shape(), g.type(), g.device());
            gradient.slice(dimension, start, end).copyFrom(g);
            return gradient;
        });
    }

    /** Pads with zeros before the elements along one dimension. */
    public Var zerosBefore(int dimension, long zeros) {
        return pad(dimension, zeros, 0, 0);
    }

    /** Pads with a number before and after the elements along one dimension. */
    public Var pad(int dimension, long before, long after, double number) {
        long end = before + shape().at(dimension);
        UnaryOperator<Tensor> pad = v -> {
            Tensor padded = Tensors.full(number, v.shape().with(dimension, end + after), v.type(), v.device());
            padded.slice(dimension, before, end).copyFrom(v);
            return padded;
        };
        return map(pad, (g, y) -> g.slice(dimension, before, end));
    }

    /**
     * Gathers entries along one dimension.
     *
     * @param indices I64 on the device of x
     * @param distinct whether no index occurs twice, so that the gradient needs no sums
     */
    public Var select(int dimension, Tensor indices, boolean distinct) {
        return map(v -> v.select(dimension, indices), (g, y) -> {
            Tensor gradient = Tensors.zeros(shape(), g.type(), g.device());
            return distinct ? gradient.put(dimension, indices, g) : gradient.addAt(dimension, indices, g);
        });
    }

    /** Concatenates along one dimension. */
    public static Var concat(List<Var> parts, int dimension) {
        List<Tensor> values = parts.stream().map(Var::value).toList();
        return parts.getFirst()
                .tape
                .apply(
                        parts,
                        () -> Result.of(Tensors.concat(values, dimension), (g, wanted) -> {
                            List<@Nullable Tensor> gradients = new ArrayList<>();
                            long start = 0;
                            for (Tensor part : values) {
                                long end = start + part.size(dimension);
                                gradients.add(g.slice(dimension, start, end));
                                start = end;
                            }
                            return gradients;
                        }));
    }

    /** Converts to another floating-point type; the gradient has the type of x. */
    public Var to(DType type) {
        if (!type.isFloating()) {
            throw new IllegalArgumentException("cast: expected a floating-point type, found " + type);
        }
        DType own = value.type();
        return own == type ? this : map(v -> v.to(type), (g, y) -> g.to(own));
    }

    @Override
    public String toString() {
        return "Var " + value;
    }
}
