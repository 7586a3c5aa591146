package org.gramian.autodiff;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.tensor.CudaProgram;
import org.gramian.tensor.CudaProgram.LaunchConfig;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/** Differentiable functions from class scores {@code [n, k]} to probabilities and a loss. */
public final class Classification {
    private Classification() {}

    /** Computes {@code p = exp(x) / Σ exp(x)} along the last dimension; backward {@code dx = p∘(g − Σ g∘p)}. */
    public static Var softmax(Var scores) {
        return scores.map(Tensor::softmax, (g, p) -> {
            Tensor gp = g.mul(p);
            return gp.sub(p.mul(gp.sum(-1)));
        });
    }

    /** Computes {@code x − log Σ exp(x)} along the last dimension; backward {@code dx = g − softmax(x)·Σ g}. */
    public static Var logSoftmax(Var scores) {
        return scores.map(Tensor::logSoftmax, (g, y) -> g.sub(y.exp().mul(g.sum(-1))));
    }

    /**
     * Computes the mean cross-entropy {@code −(1/n) Σ q∘log softmax(x)}; backward {@code dx = (softmax(x)∘rowsum(q) −
     * q)/n}.
     *
     * @param scores x {@code [n, k]}
     * @param targets q {@code [n, k]}, usually {@link #oneHot}, with label smoothing or class weights if needed
     * @return the loss, one element
     */
    public static Var crossEntropy(Var scores, Tensor targets) {
        if (!targets.shape().equals(scores.shape())) {
            throw new IllegalArgumentException("cross-entropy: scores " + scores.value() + " and targets " + targets
                    + " do not fit: both shapes must be equal");
        }
        return scores.tape().apply(List.of(scores), () -> {
            if (Kernels.suit(scores.value(), targets)) {
                return Kernels.crossEntropy(scores.value(), targets);
            }
            Tensor logs = scores.value().logSoftmax();
            double share = 1.0 / scores.shape().at(0);
            Tensor loss = logs.mul(targets).sum().mul(-share);
            return Result.of(
                    loss,
                    (g, wanted) -> {
                        Tensor p = logs.exp().mul(targets.sum(-1));
                        Tensor difference = p.sub(targets).mul(share);
                        return list(difference.mul(g));
                    },
                    logs);
        });
    }

    /** CUDA kernel that computes the loss and its gradient in one launch. */
    private static final class Kernels {
        private static final class Program {
            static final CudaProgram LOSS = CudaProgram.beside(Classification.class, "loss.cu");
        }

        /** Most scores: one block computes them all. */
        private static final long LARGEST = 1 << 16;

        private Kernels() {}

        static boolean suit(Tensor scores, Tensor targets) {
            return CudaProgram.suits(scores)
                    && CudaProgram.suits(targets)
                    && scores.shape().elements() > 0
                    && scores.shape().elements() <= LARGEST;
        }

        static Result crossEntropy(Tensor scores, Tensor targets) {
            Tensor loss = Tensors.empty(Shape.of(), scores);
            Tensor gradient = Tensors.empty(scores.shape(), scores);
            Program.LOSS.launch(
                    "cross_entropy",
                    new LaunchConfig(1, 1, 1, 1024, 1),
                    scores,
                    targets,
                    loss,
                    gradient,
                    Math.toIntExact(scores.size(0)),
                    Math.toIntExact(scores.size(1)));
            return Result.of(loss, (g, wanted) -> list(gradient.mul(g)), gradient);
        }
    }

    /** Returns one-hot rows {@code [n, classes]}. */
    public static Tensor oneHot(long[] labels, int classes, DType type) {
        double[] rows = new double[Math.multiplyExact(labels.length, classes)];
        for (int i = 0; i < labels.length; i++) {
            if (labels[i] < 0 || labels[i] >= classes) {
                throw new IllegalArgumentException(
                        "labels must lie between 0 and " + (classes - 1) + ", found " + labels[i] + " at index " + i);
            }
            rows[i * classes + (int) labels[i]] = 1;
        }
        return Tensors.of(rows, Shape.of(labels.length, classes), type);
    }
}
