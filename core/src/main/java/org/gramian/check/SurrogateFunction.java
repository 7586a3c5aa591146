package org.gramian.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Join;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Vectorization;
import org.gramian.spd.Backward;
import org.gramian.spd.Kernel;
import org.gramian.spd.KernelSum;
import org.gramian.spd.Rbf;
import org.gramian.spd.Rbf.Sigma;
import org.gramian.tensor.DType;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Function whose derivative at one point equals the backward pass of a pooling, where that is not the derivative of the
 * pooling.
 *
 * <p>Constants of the backward pass ({@code sigma=mean}) are held at their value at the point. A formula that deviates
 * from the derivative by a factor is the derivative of a layer that is scaled by that factor around the point; those layers
 * are written from the statement of the deviation. Central differences of this function thus verify the stated deviation
 * without code of a backward pass.
 */
final class SurrogateFunction {
    private final Pooling pooling;
    private final Tensor features;
    private final boolean formulas;
    private final Tensor maps;
    private final List<Double> widths;
    private final Tensor aggregated;
    private final List<Tensor> entering = new ArrayList<>();
    private final List<SurrogateFunction> branches = new ArrayList<>();

    /**
     * Stores the point in the open scope.
     *
     * @param formulas whether to follow deviating formulas; otherwise the derivative
     */
    private SurrogateFunction(Pooling pooling, boolean formulas, Tensor features, ParameterSet parameters) {
        this.pooling = pooling;
        this.features = features;
        this.formulas = formulas;
        try (Tape tape = Tape.inference()) {
            Bindings bindings = Bindings.of(parameters.variables(tape));
            Var reduced = pooling.reduce(tape.constant(features), bindings);
            maps = reduced.value().copy();
            widths = meanWidths(pooling, maps);
            Var vectors = pooling.aggregate(reduced, bindings);
            aggregated = vectors.value().copy();
            for (int i = 0; i < pooling.normalizations().size(); i++) {
                entering.add(vectors.value().copy());
                vectors = pooling.normalize(i, vectors, bindings);
            }
        }
        if (pooling.aggregation() instanceof Join join) {
            for (int i = 0; i < join.branches().size(); i++) {
                ParameterSet own = parameters.under(join.word()).under(Join.name(i));
                branches.add(new SurrogateFunction(join.branches().get(i), formulas, maps, own));
            }
        }
    }

    /** Returns the function for the derivative, with constants held. */
    static SurrogateFunction exact(Pooling pooling, Tensor features, ParameterSet parameters) {
        return new SurrogateFunction(pooling, false, features, parameters);
    }

    /** Returns the function for the stated backward pass. */
    static SurrogateFunction stated(Pooling pooling, Tensor features, ParameterSet parameters) {
        return new SurrogateFunction(pooling, true, features, parameters);
    }

    Pooling pooling() {
        return pooling;
    }

    Tensor features() {
        return features;
    }

    private static List<Double> meanWidths(Pooling pooling, Tensor maps) {
        List<Double> widths = new ArrayList<>();
        if (pooling.aggregation() instanceof SecondOrder second
                && second.kernel().factors().stream().anyMatch(SurrogateFunction::hasMeanWidth)) {
            for (long i = 0; i < maps.size(0); i++) {
                widths.add(Rbf.meanDistance(maps.slice(0, i, i + 1)));
            }
        }
        return widths;
    }

    private static boolean hasMeanWidth(Kernel kernel) {
        return kernel instanceof Rbf rbf && rbf.sigma() instanceof Sigma.Mean;
    }

    /** Returns descriptors {@code [n, d]} of features {@code [n, c, h, w]}, equal to those of the pooling at the point. */
    Var apply(Var features, Bindings parameters) {
        Var reduced = pooling.reduce(features, parameters);
        Var x = switch (pooling.aggregation()) {
            case SecondOrder second -> aggregate(second, reduced, parameters);
            case Join join -> join(reduced, parameters.under(join.word()));
            default -> pooling.aggregate(reduced, parameters);
        };
        for (int i = 0; i < entering.size(); i++) {
            x = formulas && pooling.normalizations().get(i) instanceof Normalization.Root root
                    ? statedRoot(root, x, entering.get(i))
                    : pooling.normalize(i, x, parameters);
        }
        return x;
    }

    private Var join(Var reduced, Bindings parameters) {
        List<Var> parts = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            parts.add(branches.get(i).apply(reduced, parameters.under(Join.name(i))));
        }
        return Var.concat(parts, 1);
    }

    private Var aggregate(SecondOrder second, Var reduced, Bindings parameters) {
        Var matrices = second.transform(kernel(second.kernel(), reduced, second.ofKernel(parameters)), parameters);
        if (!(second.vectorization() instanceof Vectorization.Triu triu)) {
            return second.vectorize(matrices, parameters);
        }
        // triu reads one triangle: its argument counts as symmetric, as on the tape
        Var vectors = second.vectorize(symmetric(matrices), parameters);
        return formulas && triu.backward() == Backward.PRINTED ? statedUpperTriangle(vectors, aggregated) : vectors;
    }

    private static Var symmetric(Var matrices) {
        return matrices.add(matrices.transpose(1, 2)).mul(0.5);
    }

    private Var kernel(Kernel kernel, Var reduced, Bindings own) {
        if (kernel instanceof KernelSum sum) {
            return sum.combined((factor, name) -> kernel(factor, reduced, own.under(name)));
        }
        if (!(kernel instanceof Rbf rbf)) {
            return kernel.apply(reduced, own);
        }
        List<Var> matrices = new ArrayList<>();
        for (int i = 0; i < maps.size(0); i++) {
            Var image = reduced.slice(0, i, i + 1);
            Rbf held = hasMeanWidth(rbf) ? new Rbf(new Sigma.Fixed(widths.get(i)), rbf.jitter(), rbf.backward()) : rbf;
            matrices.add(formulas ? statedKernel(held, image, maps.slice(0, i, i + 1), own) : held.apply(image, own));
        }
        return Var.concat(matrices, 0);
    }

    /** Returns {@code held + factor∘(x − held)}. */
    private static Var moved(Var x, Tensor held, Tensor factor) {
        Var point = x.tape().constant(held);
        return point.add(x.tape().constant(factor).mul(x.sub(point)));
    }

    /** Returns vectors whose derivative is the paper's: twice the derivative off the diagonal, once on it. */
    static Var statedUpperTriangle(Var vectors, Tensor held) {
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
        return moved(vectors, held, factor.to(held.device()));
    }

    /** Returns roots whose derivative is the authors': {@code √(|v|+ε)/(|y|+0.03)} times the derivative, {@code |y|/(|y|+0.03)} for ε = 0. */
    static Var statedRoot(Normalization.Root root, Var vectors, Tensor held) {
        Bindings none = Bindings.of(Map.of());
        Normalization.Root exact = new Normalization.Root(root.epsilon());
        Var y = exact.apply(vectors, none);
        if (root.slope() == Normalization.Slope.EXACT) {
            return y;
        }
        Tensor y0 = exact.apply(vectors.tape().constant(held), none).value();
        Tensor inverseSlope = held.abs().add(root.epsilon()).sqrt();
        Tensor factor = inverseSlope.div(y0.abs().add(Normalization.Slope.AUTHORS_MARGIN));
        return moved(y, y0, factor);
    }

    /**
     * Returns a kernel whose derivative is the paper's, {@code 4 Σ_j G_ij (f_i − f_j)}: in each {@code K_ij} only the first map
     * moves, twice as fast, {@code D'_ij = 2‖f_i − f°_j‖² − ‖f°_i − f°_j‖²}, f° at the point.
     *
     * @param image maps {@code [1, C, N]}
     * @param held the maps at the point
     */
    static Var statedKernel(Rbf rbf, Var image, Tensor held, Bindings parameters) {
        if (rbf.backward() == Backward.EXACT) {
            return rbf.apply(image, parameters);
        }
        Var fixed = image.tape().constant(held);
        Var distances = distances(image, fixed).mul(2).sub(distances(fixed, fixed));
        double sigma = width(rbf.sigma(), image.value(), parameters);
        Var k = distances.mul(-0.5 / (sigma * sigma)).exp();
        Tensor identity = Tensors.identity(held.size(1), DType.F64, held.device());
        return k.add(image.tape().constant(identity.mul(rbf.jitter())));
    }

    /** Returns {@code ‖a_i − b_j‖²}. */
    private static Var distances(Var a, Var b) {
        Var products = a.matmul(b.transpose(1, 2));
        Tensor ofA = a.value().mul(a.value()).sum(2);
        Tensor ofB = b.value().mul(b.value()).sum(2).transpose();
        return a.tape().constant(ofA.add(ofB)).sub(products.mul(2));
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
