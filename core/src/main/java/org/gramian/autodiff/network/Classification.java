package org.gramian.autodiff.network;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
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
