package org.gramian.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.GradientCheck;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Join;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Vectorization;
import org.gramian.spd.Backward;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * One stage of a pooling whose backward is not its derivative: how it deviates in words, and that deviation measured.
 *
 * @param statement the stage and the factor, for people
 * @param layer the stage with its backward
 * @param stated the function whose derivative is the stated formula, of the point and of a variable
 * @param shape sizes of the stage's input
 */
record StatedFormula(
        String statement, Function<Var, Var> layer, Function<Tensor, Function<Var, Var>> stated, Shape shape) {
    private static final Bindings NONE = Bindings.of(Map.of());
    private static final Vectorization PRINTED = new Vectorization.Triu(Backward.PRINTED);

    /** All stages of a pooling that state a deviation. */
    static List<StatedFormula> of(Pooling pooling) {
        List<StatedFormula> all = new ArrayList<>();
        if (pooling.aggregation() instanceof SecondOrder second) {
            if (second.kernel() instanceof Rbf rbf && rbf.backward() == Backward.PRINTED) {
                all.add(kernel(rbf));
            }
            if (second.vectorization().equals(PRINTED)) {
                all.add(upperTriangle());
            }
        }
        if (pooling.aggregation() instanceof Join join) {
            join.branches().forEach(branch -> all.addAll(of(branch)));
        }
        for (Normalization normalization : pooling.normalizations()) {
            if (normalization instanceof Normalization.Root root && root.slope() == Normalization.Slope.AUTHORS) {
                all.add(root(root));
            }
        }
        return all;
    }

    /** On maps with a fixed width: how it is chosen has no part in the formula. */
    private static StatedFormula kernel(Rbf rbf) {
        Rbf fixed = new Rbf(new Sigma.Fixed(3), rbf.jitter(), rbf.backward());
        return new StatedFormula(
                "rbf: the gradient is 4(rowsum(G)M - GM), as printed in the paper, where it should be"
                        + " 2(rowsum(T)M - TM), T = G + G^T: equal only for a symmetric upstream gradient",
                x -> fixed.apply(x, NONE),
                held -> x -> Formula.kernel(fixed, x, held, NONE),
                Shape.of(1, 5, 7));
    }

    /** On symmetric matrices, as the symmetric part of any. */
    private static StatedFormula upperTriangle() {
        Function<Var, Var> vectorize =
                x -> PRINTED.apply(Arithmetic.scale(Arithmetic.add(x, transposed(x)), 0.5), NONE);
        return new StatedFormula(
                "triu: the off-diagonal gradient is 2 x the true one, as printed in the paper",
                vectorize,
                held -> x -> Formula.upperTriangle(
                        vectorize.apply(x),
                        vectorize.apply(x.tape().constant(held)).value()),
                Shape.of(2, 5, 5));
    }

    private static Var transposed(Var matrices) {
        return Shapes.transpose(matrices, 1, 2);
    }

    private static StatedFormula root(Normalization.Root root) {
        String factor = root.epsilon() == 0 ? "|y|/(|y|+0.03)" : "sqrt(|v|+eps)/(|y|+0.03)";
        return new StatedFormula(
                "root: the gradient is " + factor + " x the true one, y the root of v, as in the authors' code",
                x -> root.apply(x, NONE),
                held -> x -> Formula.root(root, x, held),
                Shape.of(2, 9));
    }

    /** Measures the stage alone, for an upstream gradient without symmetry. */
    GradientComparison compare(Device device) {
        Tensor point = Tensors.to(Tensors.gaussian(new SplittableRandom(29), shape, DType.F64), device);
        GradientCheck check = GradientCheck.of(x -> layer.apply(x.getFirst()));
        return new GradientComparison(
                statement,
                check.check(point).worst(),
                check.withReference(x -> stated.apply(point).apply(x.getFirst()))
                        .check(point)
                        .worst(),
                LayerCheck.TOLERANCE);
    }
}
