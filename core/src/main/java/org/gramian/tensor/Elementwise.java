package org.gramian.tensor;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.gramian.tensor.CudaProgram.LaunchConfig;
import org.gramian.tensor.library.Libtorch;

/**
 * Element-wise operators. Binary operators broadcast: sizes, aligned at the last dimension, must be equal or 1, and
 * both types must be equal.
 */
public final class Elementwise {
    private static final class Operators {
        static final Operator EXP = Operator.of("exp");
        static final Operator LOG = Operator.of("log");
        static final Operator SQRT = Operator.of("sqrt");
        static final Operator ABS = Operator.of("abs");
        static final Operator SIGN = Operator.of("sign");
        static final Operator RELU = Operator.of("relu");
        static final Operator PRELU = Operator.of("_prelu_kernel");
        static final Operator RECIPROCAL = Operator.of("reciprocal");
        static final Operator EXP_IN_PLACE = Operator.of("exp_");
        static final Operator SQRT_IN_PLACE = Operator.of("sqrt_");
        static final Operator ERF = Operator.of("erf");
        static final Operator TANH = Operator.of("tanh");
        static final Operator RELU_IN_PLACE = Operator.of("relu_");
        static final Operator RELU6_IN_PLACE = Operator.of("relu6_");
        static final Operator MUL = Operator.of("mul", "Tensor");
        static final Operator MUL_IN_PLACE = Operator.of("mul_", "Tensor");
        static final Operator DIV = Operator.of("div", "Tensor");
        static final Operator MAXIMUM = Operator.of("maximum");
        static final Operator MINIMUM = Operator.of("minimum");
        static final Operator EQUAL = Operator.of("eq", "Tensor");
        static final Operator GREATER = Operator.of("gt", "Tensor");
        static final Operator WHERE = Operator.of("where", "self");
        static final Operator SOFTMAX = Operator.of("_softmax");
        static final Operator LOG_SOFTMAX = Operator.of("_log_softmax");
    }

    /** Elements that {@link #rewrite} processes at once: they stay in the cache of a core. */
    private static final long CHUNK = 1 << 19;

    private Elementwise() {}

    /**
     * Returns whether maxima and selections are slow: libtorch computes them element by element on arm64, 10 times as
     * slow as other operators (1.1 against 0.1 ms for 262,144 numbers on a Neoverse N1).
     */
    private static boolean hasSlowMaxima(Tensor x) {
        return Libtorch.ARM64
                && x.device().kind() == Device.Kind.CPU
                && (x.type() == DType.F32 || x.type() == DType.F64);
    }

    /** Computes {@code e^x}. */
    public static Tensor exp(Tensor x) {
        return unary("exp", Operators.EXP, x);
    }

    /** Computes the natural logarithm. */
    public static Tensor log(Tensor x) {
        return unary("log", Operators.LOG, x);
    }

    /** Computes {@code √x}. */
    public static Tensor sqrt(Tensor x) {
        return unary("sqrt", Operators.SQRT, x);
    }

    /** Computes {@code |x|}. */
    public static Tensor abs(Tensor x) {
        return unary("abs", Operators.ABS, x);
    }

    /** Computes the sign: −1, 0 or 1. */
    public static Tensor sign(Tensor x) {
        return unary("sign", Operators.SIGN, x);
    }

    /** Computes {@code max(x, 0)}. On arm64 −∞ becomes NaN. */
    public static Tensor relu(Tensor x) {
        if (!hasSlowMaxima(x)) {
            return unary("relu", Operators.RELU, x);
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.PRELU.call(x, Tensors.number(0, x.type())));
        }
    }

    /** Computes {@code 1/x}. */
    public static Tensor reciprocal(Tensor x) {
        return unary("reciprocal", Operators.RECIPROCAL, x);
    }

    /** Computes the error function {@code 2/√π·∫₀ˣ exp(−t²) dt}. */
    public static Tensor erf(Tensor x) {
        return unary("erf", Operators.ERF, x);
    }

    /** Computes the hyperbolic tangent. */
    public static Tensor tanh(Tensor x) {
        return unary("tanh", Operators.TANH, x);
    }

    /** Computes {@code x ← exp(x)} and returns x. */
    public static Tensor expInPlace(Tensor x) {
        return Operators.EXP_IN_PLACE.inPlace(x);
    }

    /** Computes {@code x ← √x} and returns x. */
    public static Tensor sqrtInPlace(Tensor x) {
        return Operators.SQRT_IN_PLACE.inPlace(x);
    }

    /** Computes {@code x ← max(x, 0)} and returns x. On arm64 −∞ becomes NaN. */
    public static Tensor reluInPlace(Tensor x) {
        return hasSlowMaxima(x) ? rewrite(x, Elementwise::relu) : Operators.RELU_IN_PLACE.inPlace(x);
    }

    /** Replaces a tensor by a function of its elements, chunk by chunk. */
    private static Tensor rewrite(Tensor x, UnaryOperator<Tensor> function) {
        try (Scope _ = Scope.open()) {
            if (!x.isDense()) {
                x.copyFrom(function.apply(x));
                return x;
            }
            Tensor all = Views.flat(x);
            for (long start = 0; start < all.size(0); start += CHUNK) {
                try (Scope _ = Scope.open()) {
                    Tensor part = Views.slice(all, 0, start, Math.min(all.size(0), start + CHUNK));
                    part.copyFrom(function.apply(part));
                }
            }
            return x;
        }
    }

    /**
     * Computes the gradient of ReLU: {@code g} where its value {@code y} is positive, 0 elsewhere. On the CPU an infinite {@code g}
     * becomes NaN where {@code y} is 0.
     */
    public static Tensor reluBackward(Tensor g, Tensor y) {
        if (Kernels.suit(g, y)) {
            return Kernels.reluBackward(g, y, Activation.RELU);
        }
        return mulInPlace(sign(y), g); // a quarter of the time of where(y > 0, g, 0) on the CPU
    }

    /** Computes {@code x ← min(max(x, 0), 6)} and returns x. On arm64 infinite elements become NaN. */
    public static Tensor relu6InPlace(Tensor x) {
        return hasSlowMaxima(x)
                ? rewrite(x, part -> sub(relu(part), relu(add(part, -6)))) // exact up to 12
                : Operators.RELU6_IN_PLACE.inPlace(x);
    }

    /**
     * Computes the gradient of ReLU6: {@code g} where its value {@code y} lies strictly between 0 and 6, 0 elsewhere.
     */
    public static Tensor relu6Backward(Tensor g, Tensor y) {
        if (Kernels.suit(g, y)) {
            return Kernels.reluBackward(g, y, Activation.RELU6);
        }
        try (Scope scope = Scope.open()) {
            Tensor inside = mulInPlace(add(mul(y, -1), 6), y); // (6 − y)·y is positive strictly between the bounds only
            return scope.keep(mulInPlace(sign(inside), g));
        }
    }

    private static Tensor unary(String name, Operator operator, Tensor x) {
        Checks.floating(name, x);
        return operator.call(x);
    }

    /** Computes {@code a + b}. */
    public static Tensor add(Tensor a, Tensor b) {
        return addScaled(a, b, 1);
    }

    /** Computes {@code a − b}. */
    public static Tensor sub(Tensor a, Tensor b) {
        return addScaled(a, b, -1);
    }

    /** Computes {@code a + factor·b}. */
    public static Tensor addScaled(Tensor a, Tensor b, double factor) {
        Checks.broadcastable("add", a, b);
        return DeviceFunctions.result(
                "add",
                (arena, out) -> (int) DeviceFunctions.of(a, b).add.invokeExact(a.handle(), b.handle(), factor, out),
                a,
                b);
    }

    /** Computes {@code a + value}. */
    public static Tensor add(Tensor a, double value) {
        return DeviceFunctions.result(
                "add of a number",
                (arena, out) -> (int) DeviceFunctions.of(a).addScalar.invokeExact(a.handle(), value, 1.0, out),
                a);
    }

    /** Computes {@code a·b} element by element. */
    public static Tensor mul(Tensor a, Tensor b) {
        Checks.broadcastable("mul", a, b);
        return Operators.MUL.call(a, b);
    }

    /** Computes {@code a ← a·b} and returns a. */
    public static Tensor mulInPlace(Tensor a, Tensor b) {
        Checks.broadcastable("mul", a, b);
        return Operators.MUL_IN_PLACE.inPlace(a, b);
    }

    /** Computes {@code a ← factor·a} and returns a. */
    public static Tensor mulInPlace(Tensor a, double factor) {
        try (Scope _ = Scope.open()) {
            return Operators.MUL_IN_PLACE.inPlace(a, Tensors.number(factor, a.type()));
        }
    }

    /** Computes {@code factor·a}. */
    public static Tensor mul(Tensor a, double factor) {
        return DeviceFunctions.result(
                "mul by a number",
                (arena, out) -> (int) DeviceFunctions.of(a).mulScalar.invokeExact(a.handle(), factor, out),
                a);
    }

    /** Computes {@code a/b} element by element. */
    public static Tensor div(Tensor a, Tensor b) {
        Checks.broadcastable("div", a, b);
        Checks.floating("div", a);
        return Operators.DIV.call(a, b);
    }

    /** Computes {@code a^exponent}. */
    public static Tensor pow(Tensor a, double exponent) {
        Checks.floating("pow", a);
        return DeviceFunctions.result(
                "pow", (arena, out) -> (int) DeviceFunctions.of(a).powScalar.invokeExact(a.handle(), exponent, out), a);
    }

    /** Computes the element-wise maximum. */
    public static Tensor maximum(Tensor a, Tensor b) {
        Checks.broadcastable("maximum", a, b);
        return Operators.MAXIMUM.call(a, b);
    }

    /** Computes {@code max(a, floor)}. */
    public static Tensor atLeast(Tensor a, double floor) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.MAXIMUM.call(a, Tensors.number(floor, a.type())));
        }
    }

    /** Computes {@code min(max(a, low), high)}. */
    public static Tensor clip(Tensor a, double low, double high) {
        Checks.floating("clip", a);
        try (Scope scope = Scope.open()) {
            Tensor least = Operators.MAXIMUM.call(a, Tensors.number(low, a.type()));
            return scope.keep(Operators.MINIMUM.call(least, Tensors.number(high, a.type())));
        }
    }

    /** Compares {@code a = b}; returns a BOOL tensor. */
    public static Tensor equal(Tensor a, Tensor b) {
        Checks.broadcastable("equal", a, b);
        return Operators.EQUAL.call(a, b);
    }

    /** Compares {@code a > b}; returns a BOOL tensor. */
    public static Tensor greater(Tensor a, Tensor b) {
        Checks.broadcastable("greater", a, b);
        return Operators.GREATER.call(a, b);
    }

    /** Compares {@code a > value}; returns a BOOL tensor. */
    public static Tensor greater(Tensor a, double value) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.GREATER.call(a, Tensors.number(value, a.type())));
        }
    }

    /** Selects {@code a} where the condition holds, a number elsewhere. */
    public static Tensor where(Tensor condition, Tensor a, double otherwise) {
        requireCondition(condition);
        try (Scope scope = Scope.open()) {
            Tensor number = Tensors.full(otherwise, Shape.of(), a.type(), a.device()); // no copy, so it can be captured
            return scope.keep(Operators.WHERE.call(condition, a, number));
        }
    }

    /** Selects {@code a} where the condition holds, {@code b} elsewhere. */
    public static Tensor where(Tensor condition, Tensor a, Tensor b) {
        Checks.broadcastable("where", a, b);
        requireCondition(condition);
        return Operators.WHERE.call(condition, a, b);
    }

    private static void requireCondition(Tensor condition) {
        if (condition.type() != DType.BOOL) {
            throw new IllegalArgumentException("where: expected a boolean condition, found " + condition);
        }
    }

    /** Computes {@code exp(x) / Σ exp(x)} along the last dimension. */
    public static Tensor softmax(Tensor x) {
        Checks.floating("softmax", x);
        return Operators.SOFTMAX.call(x, -1L, false);
    }

    /** Computes {@code x − log Σ exp(x)} along the last dimension. */
    public static Tensor logSoftmax(Tensor x) {
        Checks.floating("log-softmax", x);
        return Operators.LOG_SOFTMAX.call(x, -1L, false);
    }

    /** Rounds float32 tensors of a GPU to {@link DType#BF16} in one launch; empty if there is no kernel for them. */
    static Optional<List<Tensor>> rounded(List<Tensor> sources) {
        return Kernels.suit(sources) ? Optional.of(Kernels.rounded(sources)) : Optional.empty();
    }

    /** CUDA kernels for element-wise passes that libtorch has no single operator for. */
    private static final class Kernels {
        private static final class Program {
            static final CudaProgram ELEMENTWISE = CudaProgram.of("elementwise.cu");
        }

        private Kernels() {}

        /** Returns whether the kernels can process two tensors of one shape, the second one dense. */
        static boolean suit(Tensor a, Tensor b) {
            return a.device().kind() == Device.Kind.CUDA
                    && CudaProgram.isAvailable()
                    && a.type() == b.type()
                    && (a.type() == DType.F32
                            || (a.type() == DType.BF16 && a.shape().elements() % 2 == 0))
                    && a.shape().equals(b.shape())
                    && b.isDense();
        }

        /** Computes the gradient of an activation with value {@code y}; the result has the strides of {@code y}. */
        static Tensor reluBackward(Tensor g, Tensor y, Activation activation) {
            long count = g.shape().elements();
            Tensor result = Tensors.emptyLike(y);
            Tensor upstream = g;
            if (!Arrays.equals(g.strides(), y.strides())) {
                result.copyFrom(g);
                upstream = result; // each element is read before it is written
            }
            if (g.type() == DType.F32) {
                Program.ELEMENTWISE.launch(
                        "relu_backward", LaunchConfig.over(count), upstream, y, result, count, activation.high);
            } else {
                Program.ELEMENTWISE.launch(
                        "relu_backward_bf16",
                        LaunchConfig.over(count / 2),
                        upstream,
                        y,
                        result,
                        count / 2,
                        activation.highBits());
            }
            return result;
        }

        /** Tensors of a launch, whose addresses it carries by value. */
        private static final int SOURCES = 32;

        private static final int VECTOR = 4;

        static boolean suit(List<Tensor> sources) {
            return !sources.isEmpty()
                    && sources.size() <= SOURCES
                    && sources.stream()
                            .allMatch(source -> CudaProgram.suits(source)
                                    && source.device().equals(sources.getFirst().device())
                                    && source.shape().elements() > 0
                                    && source.shape().elements() % (2 * VECTOR) == 0
                                    && CudaProgram.isAligned(source))
                    && sources.stream()
                                    .mapToLong(source -> source.shape().elements())
                                    .sum()
                            < Integer.MAX_VALUE;
        }

        /** Rounds tensors into parts of one, each of which begins at a multiple of 16 bytes. */
        static List<Tensor> rounded(List<Tensor> sources) {
            CudaProgram.Struct table = new CudaProgram.Struct(12 * SOURCES + 8);
            long[] starts = new long[sources.size() + 1];
            for (int i = 0; i < sources.size(); i++) {
                table.set(8 * i, sources.get(i));
                table.set(8 * SOURCES + 4 * i, (int) (starts[i] / VECTOR));
                starts[i + 1] = starts[i] + sources.get(i).shape().elements();
            }
            long all = starts[sources.size()];
            table.set(12 * SOURCES, sources.size());
            table.set(12 * SOURCES + 4, (int) (all / VECTOR));
            Tensor out =
                    Tensors.empty(Shape.of(all), DType.BF16, sources.getFirst().device());
            Program.ELEMENTWISE.launch("round_all", LaunchConfig.over(all / VECTOR), out, table);
            return IntStream.range(0, sources.size())
                    .mapToObj(i -> Views.reshape(
                            Views.slice(out, 0, starts[i], starts[i + 1]),
                            sources.get(i).shape().sizes()))
                    .toList();
        }
    }
}
