package org.gramian.check;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.Arithmetic;
import org.gramian.autodiff.Bindings;
import org.gramian.autodiff.ParameterSet;
import org.gramian.autodiff.Shapes;
import org.gramian.autodiff.Tape;
import org.gramian.autodiff.Var;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Vectorization;
import org.gramian.spd.Kernel;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

/**
 * The function whose derivative at one point a pooling's backward is, where that is not the pooling's own.
 *
 * <p>A constant on the way back ({@code sigma=mean}) is held at its value at the point. A formula that deviates from the
 * derivative by a factor is the derivative of a layer that moves by that factor from the point on ({@link Formula}). So
 * central differences of this function say whether a deviation is the stated one, without any code of a backward.
 */
final class StandIn {
    private final Pooling pooling;
    private final Tensor features;
    private final boolean formulas;
    private final Tensor maps;
    private final List<Double> widths;
    private final Tensor aggregated;
    private final List<Tensor> entering = new ArrayList<>();

    /**
     * Remembers the point, in the scope around.
     *
     * @param formulas whether deviating formulas are followed; without, what is wanted is the derivative
     */
    private StandIn(Pooling pooling, boolean formulas, Tensor features, ParameterSet parameters) {
        this.pooling = pooling;
        this.features = features;
        this.formulas = formulas;
        try (Tape tape = Tape.inference()) {
            Bindings bindings = Bindings.of(parameters.variables(tape));
            Var reduced = pooling.reduce(tape.constant(features), bindings);
            maps = Tensors.copy(reduced.value());
            widths = meanWidths(pooling, maps);
            Var vectors = pooling.aggregation().apply(reduced, bindings);
            aggregated = Tensors.copy(vectors.value());
            for (Normalization normalization : pooling.normalizations()) {
                entering.add(Tensors.copy(vectors.value()));
                vectors = normalization.apply(vectors, bindings);
            }
        }
    }

    /** For the derivative, constants held. */
    static StandIn exact(Pooling pooling, Tensor features, ParameterSet parameters) {
        return new StandIn(pooling, false, features, parameters);
    }

    /** For what the pooling states of its backward. */
    static StandIn stated(Pooling pooling, Tensor features, ParameterSet parameters) {
        return new StandIn(pooling, true, features, parameters);
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
                && second.kernel() instanceof Rbf rbf
                && rbf.sigma() instanceof Sigma.Mean) {
            for (long i = 0; i < maps.size(0); i++) {
                widths.add(Rbf.meanDistance(Views.slice(maps, 0, i, i + 1)));
            }
        }
        return widths;
    }

    /** Descriptors {@code [n, d]} of features {@code [n, c, h, w]}; those of the pooling at the point. */
    Var apply(Var features, Bindings parameters) {
        Var reduced = pooling.reduce(features, parameters);
        Var x = pooling.aggregation() instanceof SecondOrder second
                ? aggregate(second, reduced, parameters)
                : pooling.aggregation().apply(reduced, parameters);
        for (int i = 0; i < entering.size(); i++) {
            Normalization normalization = pooling.normalizations().get(i);
            x = formulas && normalization instanceof Normalization.Root root
                    ? Formula.root(root, x, entering.get(i))
                    : normalization.apply(x, parameters);
        }
        return x;
    }

    private Var aggregate(SecondOrder second, Var reduced, Bindings parameters) {
        Var matrices = second.transform(kernel(second.kernel(), reduced, parameters), parameters);
        if (second.vectorization() == Vectorization.FLAT) {
            return second.vectorization().apply(matrices, parameters);
        }
        // triu reads one triangle and answers for both: its argument counts as symmetric, as the tape has it
        Var vectors = second.vectorization().apply(symmetric(matrices), parameters);
        return formulas && second.vectorization() == Vectorization.TRIU_PRINTED
                ? Formula.upperTriangle(vectors, aggregated)
                : vectors;
    }

    private static Var symmetric(Var matrices) {
        return Arithmetic.scale(Arithmetic.add(matrices, Shapes.transpose(matrices, 1, 2)), 0.5);
    }

    private Var kernel(Kernel kernel, Var reduced, Bindings parameters) {
        if (!(kernel instanceof Rbf rbf)) {
            return kernel.apply(reduced, parameters); // no other kernel has parameters
        }
        Bindings own = parameters.under("rbf");
        List<Var> matrices = new ArrayList<>();
        for (int i = 0; i < maps.size(0); i++) {
            Var image = Shapes.slice(reduced, 0, i, i + 1);
            Rbf held = widths.isEmpty() ? rbf : new Rbf(new Sigma.Fixed(widths.get(i)), rbf.jitter(), rbf.backward());
            matrices.add(
                    formulas
                            ? Formula.kernel(held, image, Views.slice(maps, 0, i, i + 1), own)
                            : held.apply(image, own));
        }
        return Shapes.concat(matrices, 0);
    }

    /** {@code held + factor∘(x − held)}: moves by the factor from the point on. */
    static Var moved(Var x, Tensor held, Tensor factor) {
        Var point = x.tape().constant(held);
        return Arithmetic.add(point, Arithmetic.mul(x.tape().constant(factor), Arithmetic.sub(x, point)));
    }
}
