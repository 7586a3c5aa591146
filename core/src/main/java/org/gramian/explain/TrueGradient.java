package org.gramian.explain;

import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Join;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.SecondOrder;
import org.gramian.pooling.Vectorization;
import org.gramian.pooling.Vectorization.Triu;
import org.gramian.spd.Kernel;
import org.gramian.spd.Rbf;
import org.gramian.spd.Sigma;

/**
 * The same pooling with the derivative on the way back wherever training leaves something out of it.
 *
 * <p>{@code rbf} with {@code sigma=mean} trains as if the width did not depend on the image, and poolings of the paper's
 * fidelity by formulas as they are printed. Values are the same, but what explains a score must be its own gradient.
 */
final class TrueGradient {
    private TrueGradient() {}

    static Pooling of(Pooling pooling) {
        return new Pooling(pooling.reductions(), of(pooling.aggregation()), pooling.normalizations());
    }

    private static Aggregation of(Aggregation aggregation) {
        return switch (aggregation) {
            case SecondOrder(Kernel kernel, var transforms, Vectorization vectorization) ->
                new SecondOrder(of(kernel), transforms, vectorization instanceof Triu ? new Triu() : vectorization);
            case Join join ->
                new Join(join.branches().stream().map(TrueGradient::of).toList());
            default -> aggregation;
        };
    }

    private static Kernel of(Kernel kernel) {
        return kernel instanceof Rbf rbf
                ? new Rbf(rbf.sigma() instanceof Sigma.Mean ? new Sigma.MeanFull() : rbf.sigma(), rbf.jitter())
                : kernel;
    }
}
