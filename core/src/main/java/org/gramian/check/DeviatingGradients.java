package org.gramian.check;

import java.util.Map;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.Matrices;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Normalization;
import org.gramian.spd.Backward;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * Backward formulas that are not the derivative of their layer, each as the derivative of another function at one
 * point.
 *
 * <p>They are written from the statement of the deviation, independently of the code of the layers.
 */
final class DeviatingGradients {
    private DeviatingGradients() {}

    /** The paper's vectorization: twice the derivative off the diagonal, once on it. */
    static Var upperTriangle(Var vectors, Tensor held) {
        int length = (int) held.size(1);
        double[] factors = new double[length];
        int size = (int) Math.round((Math.sqrt(8.0 * length + 1) - 1) / 2);
        int k = 0;
        for (int i = 0; i < size; i++) {
            for (int j = i; j < size; j++, k++) {
                factors[k] = i == j ? 1 : 2;
            }
        }
        Tensor factor = Tensors.of(factors, held.shape().with(0, 1), DType.F64);
        return SurrogateFunction.moved(vectors, held, Tensors.to(factor, held.device()));
    }

    /** The authors' root: {@code √(|v|+ε)/(|y|+0.03)} times the derivative, {@code |y|/(|y|+0.03)} for ε = 0. */
    static Var root(Normalization.Root root, Var vectors, Tensor held) {
        Bindings none = Bindings.of(Map.of());
        Normalization.Root exact = new Normalization.Root(root.epsilon());
        Var y = exact.apply(vectors, none);
        if (root.slope() == Normalization.Slope.EXACT) {
            return y;
        }
        Tensor y0 = exact.apply(vectors.tape().constant(held), none).value();
        Tensor inverseSlope = Elementwise.sqrt(Elementwise.add(Elementwise.abs(held), root.epsilon()));
        Tensor factor =
                Elementwise.div(inverseSlope, Elementwise.add(Elementwise.abs(y0), Normalization.Slope.AUTHORS_MARGIN));
        return SurrogateFunction.moved(y, y0, factor);
    }

    /**
     * The paper's kernel: {@code 4 Σ_j G_ij (f_i − f_j)} is what follows when in each {@code K_ij} only the first map moves,
     * and twice as fast: {@code D'_ij = 2‖f_i − f°_j‖² − ‖f°_i − f°_j‖²}, f° at the point.
     *
     * @param image maps {@code [1, C, N]}
     * @param held the maps at the point
     */
    static Var kernel(Rbf rbf, Var image, Tensor held, Bindings parameters) {
        if (rbf.backward() == Backward.EXACT) {
            return rbf.apply(image, parameters);
        }
        Var fixed = image.tape().constant(held);
        Var distances = Arithmetic.sub(Arithmetic.scale(distances(image, fixed), 2), distances(fixed, fixed));
        double sigma = width(rbf.sigma(), image.value(), parameters);
        Var k = Arithmetic.exp(Arithmetic.scale(distances, -0.5 / (sigma * sigma)));
        Tensor identity = Tensors.identity(held.size(1), DType.F64, held.device());
        return Arithmetic.add(k, image.tape().constant(Elementwise.mul(identity, rbf.jitter())));
    }

    /** {@code ‖a_i − b_j‖²}. */
    private static Var distances(Var a, Var b) {
        Var products = Matrices.matmul(a, Shapes.transpose(b, 1, 2));
        Tensor ofA = Reductions.sum(Elementwise.mul(a.value(), a.value()), 2);
        Tensor ofB = Views.transpose(Reductions.sum(Elementwise.mul(b.value(), b.value()), 2));
        return Arithmetic.sub(a.tape().constant(Elementwise.add(ofA, ofB)), Arithmetic.scale(products, 2));
    }

    private static double width(Sigma sigma, Tensor image, Bindings parameters) {
        return switch (sigma) {
            case Sigma.Fixed fixed -> fixed.value();
            case Sigma.Mean _, Sigma.MeanFull _ -> Rbf.meanDistance(image);
            case Sigma.Estimate _ -> parameters.get("sigma").value().item();
            case Sigma.Learned _ -> Math.exp(parameters.get("logSigma").value().item());
        };
    }
}
