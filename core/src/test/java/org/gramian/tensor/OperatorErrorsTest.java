package org.gramian.tensor;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import org.gramian.testing.LeakFree;
import org.gramian.testing.Scoped;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What an operator says of arguments that do not fit: its name and both shapes, and nothing is left in memory. */
@ExtendWith(LeakFree.class)
@ExtendWith(Scoped.class)
class OperatorErrorsTest {
    private static Tensor zeros(DType type, long... sizes) {
        return Tensors.zeros(Shape.of(sizes), type, Device.CPU);
    }

    private static final Map<String, BinaryOperator<Tensor>> ELEMENTWISE = Map.of(
            "add", Tensor::add,
            "mul", Tensor::mul,
            "div", Tensor::div,
            "maximum", Tensor::maximum,
            "greater", Tensor::greater,
            "where", (a, b) -> Tensors.where(zeros(DType.BOOL, 2, 3), a, b));

    private static final Map<String, BinaryOperator<Tensor>> PRODUCTS = Map.of(
            "matmul", Tensor::matmul,
            "sum of products", Tensor::sumOfProducts,
            "product", (a, b) -> zeros(a.type(), 1, 1, 1).addProducts(1, 1, a, b));

    @Test
    void shapesThatDoNotBroadcastAreNamed() {
        ELEMENTWISE.forEach((name, operator) -> assertThatThrownBy(
                        () -> operator.apply(zeros(DType.F32, 2, 3), zeros(DType.F32, 4, 2, 4)))
                .as(name)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(name + ":")
                .has(facts("F32[2, 3]", "F32[4, 2, 4]", "3", "4")));
        assertThatThrownBy(() -> zeros(DType.F32, 2).sub(zeros(DType.F32, 3))).has(facts("F32[2]", "F32[3]"));
    }

    @Test
    void differentTypesAreNamed() {
        ELEMENTWISE.forEach((name, operator) -> assertThatThrownBy(
                        () -> operator.apply(zeros(DType.F32, 2, 3), zeros(DType.F64, 2, 3)))
                .as(name)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(name + ":")
                .has(facts("F32[2, 3]", "F64[2, 3]")));
        PRODUCTS.forEach((name, operator) -> assertThatThrownBy(
                        () -> operator.apply(zeros(DType.F32, 1, 3, 3), zeros(DType.F64, 1, 3, 3)))
                .as(name)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(name + ":")
                .has(facts("F32[1, 3, 3]", "F64[1, 3, 3]")));
    }

    @Test
    void productsThatDoNotFitAreNamed() {
        PRODUCTS.forEach((name, operator) -> {
            assertThatThrownBy(() -> operator.apply(zeros(DType.F64, 2, 3, 4), zeros(DType.F64, 2, 5, 6)))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith(name + ":")
                    .has(facts("F64[2, 3, 4]", "F64[2, 5, 6]"));
            assertThatThrownBy(() -> operator.apply(zeros(DType.F64, 2, 3, 4), zeros(DType.F64, 3, 4, 5)))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class)
                    .has(facts("F64[2, 3, 4]", "F64[3, 4, 5]"));
        });
        assertRejected(() -> zeros(DType.F64, 3).matmul(zeros(DType.F64, 3, 2)), "matmul", "F64[3]", "F64[3, 2]");
        assertRejected(
                () -> zeros(DType.F64, 1, 2, 2).addProducts(1, 1, zeros(DType.F64, 1, 3, 4), zeros(DType.F64, 1, 4, 5)),
                "F64[1, 2, 2]");
    }

    @Test
    void functionsOfRealNumbersRefuseWholeOnes() {
        Map<String, UnaryOperator<Tensor>> operators = Map.of(
                "exp", Tensor::exp,
                "log", Tensor::log,
                "sqrt", Tensor::sqrt,
                "reciprocal", Tensor::reciprocal,
                "pow", x -> x.pow(0.5),
                "div", x -> x.div(x),
                "softmax", Tensor::softmax,
                "log-softmax", Tensor::logSoftmax,
                "mean", Tensor::mean,
                "sum", x -> x.sum(0));
        operators.forEach((name, operator) -> assertThatThrownBy(() -> operator.apply(zeros(DType.I64, 2, 3)))
                .as(name)
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts(name, "I64[2, 3]")));
    }

    /** What only libtorch can find still comes back as an exception with the arguments' shapes. */
    @Test
    void failureInsideLibtorchNamesOperatorAndItsArguments() {
        Tensor outside = Tensors.ofLongs(new long[] {7}, Shape.of(1));
        assertRejected(
                RuntimeException.class, () -> zeros(DType.F32, 2, 3).select(0, outside), "index_select", "F32[2, 3]");
        assertRejected(
                RuntimeException.class,
                () -> Decompositions.solve(zeros(DType.F64, 2, 2), zeros(DType.F64, 2, 1)),
                "linalg_solve",
                "F64[2, 2]");
    }
}
