package org.gramian.accelerate;

import static org.gramian.autodiff.Result.Adjoint.list;

import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Classification;
import org.gramian.autodiff.Result;
import org.gramian.autodiff.Var;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.cuda.CudaProgram;
import org.gramian.tensor.cuda.CudaProgram.LaunchConfig;

/** Cross-entropy with its gradient in one kernel. */
public final class FusedLoss {
    private static final class Program {
        static final CudaProgram LOSS = CudaProgram.of(FusedLoss.class, "loss.cu", Map.of());
    }

    /** Most scores: one block computes them all. */
    private static final long LARGEST = 1 << 16;

    private FusedLoss() {}

    /**
     * Computes {@link Classification#crossEntropy}, by the kernel if {@link Rule#LOSS} applies.
     *
     * @param scores {@code [n, k]}
     * @param targets {@code [n, k]}
     * @return the loss, one element
     */
    public static Var crossEntropy(Var scores, Tensor targets) {
        Tensor x = scores.value();
        if (!isSupported(x, targets)) {
            return Classification.crossEntropy(scores, targets);
        }
        return scores.tape().apply(List.of(scores), () -> {
            Tensor loss = Tensors.empty(Shape.of(), x);
            Tensor gradient = Tensors.empty(x.shape(), x);
            Program.LOSS.launch(
                    "cross_entropy",
                    new LaunchConfig(1, 1, 1, 1024, 1),
                    x,
                    targets,
                    loss,
                    gradient,
                    Math.toIntExact(x.size(0)),
                    Math.toIntExact(x.size(1)));
            return Result.of(loss, (g, wanted) -> list(gradient.mul(g)), gradient);
        });
    }

    private static boolean isSupported(Tensor scores, Tensor targets) {
        return Rule.LOSS.isEnabled()
                && targets.shape().equals(scores.shape())
                && CudaProgram.isSupported(scores)
                && CudaProgram.isSupported(targets)
                && scores.shape().elements() > 0
                && scores.shape().elements() <= LARGEST;
    }
}
