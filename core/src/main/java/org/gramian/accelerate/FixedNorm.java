package org.gramian.accelerate;

import org.gramian.autodiff.Var;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.cuda.CudaProgram;

/**
 * Batch norm with fixed statistics, folded into the filters of the convolution before it: {@code γ·(W∗x − μ)/√(v + ε) + β}
 * is the convolution by {@code s·W} with the bias {@code β − μ·s}, {@code s = γ/√(v + ε)} per filter.
 *
 * <p>The gradients of the folded filters F and biases b give {@code dW = s·dF}, {@code dγ = (⟨dF, W⟩ − μ·db)/√(v + ε)} and
 * {@code dβ = db}. On a GPU each direction is one kernel, which also rounds float32 filters for bfloat16 maps.
 *
 * @param gamma γ {@code [k]}
 * @param beta β {@code [k]}
 * @param mean μ {@code [k]}
 * @param variance v {@code [k]}
 * @param epsilon ε
 */
record FixedNorm(Var gamma, Var beta, Tensor mean, Tensor variance, double epsilon) {
    /** Gradients of filters {@code [k, c, s, t]}, γ {@code [k]} and β {@code [k]}. */
    record Gradients(Tensor weight, Tensor gamma, Tensor beta) {}

    /**
     * Folds the norm into filters.
     *
     * @param weight W {@code [k, c, s, t]}
     * @param biasType type of the biases if the maps are in {@link DType#BF16}
     */
    ConvolutionKernels.Prepared fold(Tensor weight, Tensor maps, ConvolutionKernels convolution, DType biasType) {
        if (FilterKernels.isSupported(maps, weight) && convolution.geometry().groups() == 1 && haveKernels()) {
            return FilterKernels.fold(weight, this, biasType);
        }
        Tensor scale = gamma.value().mul(inverse());
        Tensor filters = weight.mul(perFilter(scale));
        return new ConvolutionKernels.Prepared(
                convolution.prepared(filters, maps), beta.value().sub(scale.mul(mean)));
    }

    private boolean haveKernels() {
        return CudaProgram.isSupported(gamma.value())
                && CudaProgram.isSupported(beta.value())
                && CudaProgram.isSupported(mean)
                && CudaProgram.isSupported(variance);
    }

    /**
     * Computes the gradients.
     *
     * @param ofWeight dF {@code [k, c, s, t]}, also in bfloat16 and channels-last format
     * @param ofBias db {@code [k]}
     * @param weight W {@code [k, c, s, t]}
     */
    Gradients backward(Tensor ofWeight, Tensor ofBias, Tensor weight) {
        Tensor sums = ofBias.to(weight.type());
        if (FilterKernels.isSupported(ofWeight, weight) && haveKernels()) {
            return FilterKernels.backward(ofWeight, sums, weight, this);
        }
        Tensor inverse = inverse();
        Tensor exact = ofWeight.contiguous().to(weight.type());
        Tensor products = exact.mul(weight).sum(1, 2, 3);
        Tensor ofScale = products.reshape(weight.size(0)).sub(sums.mul(mean));
        return new Gradients(exact.mul(perFilter(gamma.value().mul(inverse))), ofScale.mul(inverse), sums);
    }

    private Tensor inverse() {
        return variance.add(epsilon).pow(-0.5);
    }

    private static Tensor perFilter(Tensor scale) {
        return scale.reshape(scale.size(0), 1, 1, 1);
    }
}
