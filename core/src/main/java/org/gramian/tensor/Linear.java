package org.gramian.tensor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gradients of a linear layer {@code y = x·Wᵀ + b} of rows, see {@link Tensor#linear}.
 *
 * <p>In mixed precision the rows and the weight are {@link DType#BF16} and the gradients of the parameters float32. On a
 * GPU the gradient of the bias is summed in the kernel that computes the gradient of y.
 */
public final class Linear {
    private Linear() {}

    /** Gradients of rows, weight and bias; null where not requested. */
    public record Gradients(
            @Nullable Tensor rows,
            @Nullable Tensor weight,
            @Nullable Tensor bias) {}

    /**
     * Gradient of y.
     *
     * @param rows {@code [m, k]}
     * @param partial partial sums of its columns {@code [p, k]} in float32, or null if they are not computed yet
     */
    public record Upstream(Tensor rows, @Nullable Tensor partial) {
        /** Creates a gradient without sums. */
        public static Upstream of(Tensor rows) {
            return new Upstream(rows, null);
        }

        /**
         * Computes the gradient of y from that of {@code gelu(y)}.
         *
         * @param g gradient of {@code gelu(y)} {@code [m, k]}
         * @param y {@code [m, k]}
         */
        public static Upstream ofGelu(Tensor g, Tensor y, Gelu form) {
            if (g.type() != y.type() || !FeatureMapKernels.suitColumns(g) || !FeatureMapKernels.suitColumns(y)) {
                return of(form.backward(g, y));
            }
            return of(FeatureMapKernels.geluBackward(g, y, form));
        }

        /** Joins the gradients of three equal parts of the columns of y, each {@code [m, k/3]}. */
        public static Upstream ofParts(Tensor first, Tensor second, Tensor third) {
            List<Tensor> parts = List.of(first, second, third);
            return parts.stream().allMatch(FeatureMapKernels::suitColumns)
                    ? of(FeatureMapKernels.joined(first, second, third))
                    : of(Tensors.concat(parts, 1));
        }

        private static Upstream of(FeatureMapKernels.GradientWithSums passed) {
            return new Upstream(passed.input(), passed.partial());
        }

        /** Returns the rows, and the partial sums if there are any. */
        public List<Tensor> tensors() {
            return partial == null ? List.of(rows) : List.of(rows, partial);
        }
    }

    /**
     * Computes {@code dx = g·W}, {@code dW = gᵀ·x} and {@code db = Σ g} over the rows.
     *
     * @param g gradient of y
     * @param rows x {@code [m, d]}
     * @param weight W {@code [k, d]}, of the type of the rows
     * @param exact type of the gradients of weight and bias
     * @param wanted which of the gradients of x, W and b to compute
     */
    public static Gradients backward(Upstream g, Tensor rows, Tensor weight, DType exact, boolean[] wanted) {
        return new Gradients(
                wanted[0] ? g.rows.matmul(weight) : null,
                wanted[1] ? g.rows.transpose().matmul(rows, exact) : null,
                wanted[2] ? sums(g).to(exact) : null);
    }

    private static Tensor sums(Upstream g) {
        if (g.partial != null) {
            return FeatureMapKernels.sumOverRows(g.partial);
        }
        return FeatureMapKernels.suitColumns(g.rows) ? FeatureMapKernels.columnSums(g.rows) : g.rows.columnSums();
    }
}
