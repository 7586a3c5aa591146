package org.gramian.tensor;

import java.util.Optional;
import org.gramian.tensor.library.Libtorch;
import org.gramian.tensor.library.NativeErrors;

/** Matrix products. Batches are leading dimensions: {@code [n, a, b] · [n, b, c] = [n, a, c]}. */
public final class Products {
    private static final class Operators {
        static final Operator MATMUL = Operator.of("matmul");
        static final Operator LINEAR = Operator.of("linear");
        static final Operator MM_TYPED = Operator.of("mm", "dtype");
    }

    private Products() {}

    /**
     * Computes the product of two matrices or batches; a single matrix is broadcast over a batch {@code [n, a, b]}, all
     * other leading dimensions must be equal.
     */
    public static Tensor matmul(Tensor a, Tensor b) {
        Checks.sameKind("matmul", a, b);
        int m = a.shape().rank();
        int n = b.shape().rank();
        if (m < 2 || n < 2 || (m != n && Math.max(m, n) > 3) || a.size(-1) != b.size(-2)) {
            throw Checks.mismatch("matmul", a, b, "expected matrices [.., a, b] and [.., b, c]");
        }
        for (int i = 0; m == n && i < m - 2; i++) {
            if (a.size(i) != b.size(i)) {
                throw Checks.mismatch("matmul", a, b, "both batches must be of one size");
            }
        }
        return Operators.MATMUL.call(a, b);
    }

    /**
     * Computes the product of two matrices in another type. On a GPU the float32 product of 16-bit matrices is not rounded to
     * 16 bits (libtorch 2.10 and later).
     */
    static Tensor matmul(Tensor a, Tensor b, DType type) {
        boolean direct = type == DType.F32
                && (a.type() == DType.BF16 || a.type() == DType.F16)
                && a.device().kind() == Device.Kind.CUDA
                && Libtorch.load().hasLists(); // the operator is there since 2.8, on GPUs only
        if (!direct) {
            try (Scope scope = Scope.open()) {
                return scope.keep(Tensors.to(matmul(a, b), type));
            }
        }
        Checks.sameKind("matmul", a, b);
        Checks.rank("matmul", a, 2);
        Checks.rank("matmul", b, 2);
        return Operators.MM_TYPED.call(a, b, (long) type.code());
    }

    /**
     * Computes {@code x·Wᵀ + b}, with the bias added inside the product.
     *
     * @param x {@code [.., d]}
     * @param weight W {@code [k, d]}
     * @param bias b {@code [k]}
     * @return {@code [.., k]}
     */
    public static Tensor linear(Tensor x, Tensor weight, Tensor bias) {
        Checks.sameKind("linear", x, weight);
        Checks.sameKind("linear", weight, bias);
        if (weight.shape().rank() != 2
                || x.size(-1) != weight.size(1)
                || !bias.shape().equals(Shape.of(weight.size(0)))) {
            throw Checks.mismatch("linear", x, weight, "expected [.., d], weights [k, d] and a bias [k]");
        }
        return Operators.LINEAR.call(x, weight, Optional.of(bias));
    }

    /**
     * Computes {@code Σ_i a_i·b_i}, the sum of a batch of products.
     *
     * @param a {@code [n, a, b]}
     * @param b {@code [n, b, c]}
     * @return {@code [a, c]}
     */
    public static Tensor sumOfProducts(Tensor a, Tensor b) {
        checkBatches("sum of products", a, b);
        try (Scope scope = Scope.open()) {
            if (a.device().kind() == Device.Kind.CUDA) {
                return scope.keep(asOneProduct(a, b));
            }
            Tensor zero = Tensors.zeros(Shape.of(a.size(1), b.size(2)), a.type(), a.device());
            return scope.keep(DeviceFunctions.result(
                    "sum of products",
                    (arena, out) -> (int) DeviceFunctions.of(a)
                            .sumOfProducts
                            .invokeExact(zero.handle(), a.handle(), b.handle(), 0.0, 1.0, out),
                    a,
                    b));
        }
    }

    /** Concatenates the batch along the summed dimension: one launch on the GPU, where addbmm makes one per matrix. */
    private static Tensor asOneProduct(Tensor a, Tensor b) {
        long summed = a.size(0) * a.size(2);
        Tensor left = Views.reshape(Views.transpose(a, 0, 1), a.size(1), summed);
        return matmul(left, Views.reshape(b, summed, b.size(2)));
    }

    /** Computes {@code target ← keep·target + factor·a·b} for batches of matrices and returns the target. */
    public static Tensor addProducts(Tensor target, double keep, double factor, Tensor a, Tensor b) {
        checkBatches("product", a, b);
        Checks.sameKind("product", target, a);
        if (!target.shape().equals(Shape.of(a.size(0), a.size(1), b.size(2)))) {
            throw Checks.mismatch("product", a, b, "their product does not have the target's shape " + target);
        }
        try {
            int code = (int) DeviceFunctions.of(target)
                    .addProducts
                    .invokeExact(target.handle(), target.handle(), a.handle(), b.handle(), keep, factor);
            if (code != 0) {
                throw NativeErrors.of("product", a, b);
            }
            return target;
        } catch (Throwable thrown) {
            throw NativeErrors.wrap(thrown);
        }
    }

    private static void checkBatches(String operation, Tensor a, Tensor b) {
        Checks.sameKind(operation, a, b);
        if (a.shape().rank() != 3 || b.shape().rank() != 3 || a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
            throw Checks.mismatch(operation, a, b, "expected batches [n, a, b] and [n, b, c]");
        }
    }
}
