package org.gramian.tensor;

import java.util.Arrays;
import org.gramian.tensor.CudaProgram.Grid;

/**
 * Operators on single elements. Binary ones broadcast: sizes counted from the last dimension must be equal or 1, and
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
        static final Operator RECIPROCAL = Operator.of("reciprocal");
        static final Operator EXP_IN_PLACE = Operator.of("exp_");
        static final Operator SQRT_IN_PLACE = Operator.of("sqrt_");
        static final Operator RELU_IN_PLACE = Operator.of("relu_");
        static final Operator RELU6_IN_PLACE = Operator.of("relu6_");
        static final Operator MUL = Operator.of("mul", "Tensor");
        static final Operator MUL_IN_PLACE = Operator.of("mul_", "Tensor");
        static final Operator DIV = Operator.of("div", "Tensor");
        static final Operator MAXIMUM = Operator.of("maximum");
        static final Operator GREATER = Operator.of("gt", "Tensor");
        static final Operator WHERE = Operator.of("where", "self");
        static final Operator SOFTMAX = Operator.of("_softmax");
        static final Operator LOG_SOFTMAX = Operator.of("_log_softmax");
    }

    private Elementwise() {}

    public static Tensor exp(Tensor x) {
        return unary("exp", Operators.EXP, x);
    }

    /** Natural logarithm. */
    public static Tensor log(Tensor x) {
        return unary("log", Operators.LOG, x);
    }

    public static Tensor sqrt(Tensor x) {
        return unary("sqrt", Operators.SQRT, x);
    }

    public static Tensor abs(Tensor x) {
        return unary("abs", Operators.ABS, x);
    }

    /** −1, 0 or 1; 0 at 0. */
    public static Tensor sign(Tensor x) {
        return unary("sign", Operators.SIGN, x);
    }

    /** {@code max(x, 0)}. */
    public static Tensor relu(Tensor x) {
        return unary("relu", Operators.RELU, x);
    }

    public static Tensor reciprocal(Tensor x) {
        return unary("reciprocal", Operators.RECIPROCAL, x);
    }

    /** {@code x ← exp(x)}; returns x. */
    public static Tensor expInPlace(Tensor x) {
        return Operators.EXP_IN_PLACE.inPlace(x);
    }

    /** {@code x ← √x}; returns x. */
    public static Tensor sqrtInPlace(Tensor x) {
        return Operators.SQRT_IN_PLACE.inPlace(x);
    }

    /** {@code x ← max(x, 0)}; returns x. */
    public static Tensor reluInPlace(Tensor x) {
        return Operators.RELU_IN_PLACE.inPlace(x);
    }

    /** The gradient that passes a ReLU: {@code g} where its value {@code y} is positive, 0 elsewhere. */
    public static Tensor reluBackward(Tensor g, Tensor y) {
        if (Kernels.suit(g, y)) {
            return Kernels.reluBackward(g, y, Activation.RELU);
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(where(greater(y, 0), g, 0)); // truth values are a quarter of what signs would be to move
        }
    }

    /** {@code x ← min(max(x, 0), 6)}; returns x. */
    public static Tensor relu6InPlace(Tensor x) {
        return Operators.RELU6_IN_PLACE.inPlace(x);
    }

    /** The gradient that passes a ReLU6: {@code g} where its value {@code y} lies between 0 and 6, 0 elsewhere. */
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

    public static Tensor add(Tensor a, Tensor b) {
        return addScaled(a, b, 1);
    }

    public static Tensor sub(Tensor a, Tensor b) {
        return addScaled(a, b, -1);
    }

    /** {@code a + factor·b}. */
    public static Tensor addScaled(Tensor a, Tensor b, double factor) {
        Checks.broadcastable("add", a, b);
        return DeviceFunctions.result(
                "add",
                (arena, out) -> (int) DeviceFunctions.of(a, b).add.invokeExact(a.handle(), b.handle(), factor, out),
                a,
                b);
    }

    /** {@code a + value}. */
    public static Tensor add(Tensor a, double value) {
        return DeviceFunctions.result(
                "add of a number",
                (arena, out) -> (int) DeviceFunctions.of(a).addScalar.invokeExact(a.handle(), value, 1.0, out),
                a);
    }

    public static Tensor mul(Tensor a, Tensor b) {
        Checks.broadcastable("mul", a, b);
        return Operators.MUL.call(a, b);
    }

    /** {@code a ← a·b}; returns a. */
    public static Tensor mulInPlace(Tensor a, Tensor b) {
        Checks.broadcastable("mul", a, b);
        return Operators.MUL_IN_PLACE.inPlace(a, b);
    }

    /** {@code a ← factor·a}; returns a. */
    public static Tensor mulInPlace(Tensor a, double factor) {
        try (Scope _ = Scope.open()) {
            return Operators.MUL_IN_PLACE.inPlace(a, Tensors.number(factor, a.type()));
        }
    }

    /** {@code factor·a}. */
    public static Tensor mul(Tensor a, double factor) {
        return DeviceFunctions.result(
                "mul by a number",
                (arena, out) -> (int) DeviceFunctions.of(a).mulScalar.invokeExact(a.handle(), factor, out),
                a);
    }

    public static Tensor div(Tensor a, Tensor b) {
        Checks.broadcastable("div", a, b);
        Checks.floating("div", a);
        return Operators.DIV.call(a, b);
    }

    /** {@code a^exponent}. */
    public static Tensor pow(Tensor a, double exponent) {
        Checks.floating("pow", a);
        return DeviceFunctions.result(
                "pow", (arena, out) -> (int) DeviceFunctions.of(a).powScalar.invokeExact(a.handle(), exponent, out), a);
    }

    /** The larger of each pair. */
    public static Tensor maximum(Tensor a, Tensor b) {
        Checks.broadcastable("maximum", a, b);
        return Operators.MAXIMUM.call(a, b);
    }

    /** {@code max(a, floor)}. */
    public static Tensor atLeast(Tensor a, double floor) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.MAXIMUM.call(a, Tensors.number(floor, a.type())));
        }
    }

    /** Where {@code a > b}, a tensor of truth values. */
    public static Tensor greater(Tensor a, Tensor b) {
        Checks.broadcastable("greater", a, b);
        return Operators.GREATER.call(a, b);
    }

    /** Where {@code a > value}. */
    public static Tensor greater(Tensor a, double value) {
        try (Scope scope = Scope.open()) {
            return scope.keep(Operators.GREATER.call(a, Tensors.number(value, a.type())));
        }
    }

    /** {@code a} where the condition holds, the number elsewhere. */
    public static Tensor where(Tensor condition, Tensor a, double otherwise) {
        requireCondition(condition);
        try (Scope scope = Scope.open()) {
            Tensor number = Tensors.full(otherwise, Shape.of(), a.type(), a.device()); // no copy, so graphs can have it
            return scope.keep(Operators.WHERE.call(condition, a, number));
        }
    }

    /** {@code a} where the condition holds, {@code b} elsewhere. */
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

    /** {@code exp(x) / Σ exp(x)} along the last dimension. */
    public static Tensor softmax(Tensor x) {
        Checks.floating("softmax", x);
        return Operators.SOFTMAX.call(x, -1L, false);
    }

    /** {@code x − log Σ exp(x)} along the last dimension. */
    public static Tensor logSoftmax(Tensor x) {
        Checks.floating("log-softmax", x);
        return Operators.LOG_SOFTMAX.call(x, -1L, false);
    }

    /** Passes over single elements for which libtorch has no single operator, in kernels of our own on a GPU. */
    private static final class Kernels {
        private static final class Program {
            static final CudaProgram ELEMENTWISE = CudaProgram.beside(Kernels.class, "elementwise.cu");
        }

        private Kernels() {}

        /** Whether these can be used for two tensors of one shape, of which the second lies densely. */
        static boolean suit(Tensor a, Tensor b) {
            return a.device().kind() == Device.Kind.CUDA
                    && CudaProgram.isAvailable()
                    && a.type() == b.type()
                    && (a.type() == DType.F32
                            || (a.type() == DType.BF16 && a.shape().elements() % 2 == 0))
                    && a.shape().equals(b.shape())
                    && b.isDense();
        }

        /** The gradient that passes a rectifier whose value is {@code y}; the result lies as {@code y} does. */
        static Tensor reluBackward(Tensor g, Tensor y, Activation activation) {
            long count = g.shape().elements();
            Tensor result = Tensors.emptyLike(y);
            Tensor upstream = g;
            if (!Arrays.equals(g.strides(), y.strides())) {
                result.copyFrom(g);
                upstream = result; // each element is read before it is written
            }
            if (g.type() == DType.F32) {
                Program.ELEMENTWISE.launch("relu_backward", Grid.over(count), upstream, y, result, count, activation.high);
            } else {
                Program.ELEMENTWISE.launch(
                        "relu_backward_bf16", Grid.over(count / 2), upstream, y, result, count / 2, activation.highBits());
            }
            return result;
        }
    }
}
