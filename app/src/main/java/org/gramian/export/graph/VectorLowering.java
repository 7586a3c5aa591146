package org.gramian.export.graph;

import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Normalization.Pca;
import org.gramian.pooling.Reduction;
import org.gramian.pooling.Reduction.LayerChannels;

/**
 * Reductions of maps and normalizations of vectors as operators.
 *
 * @param algebra to whose graph nodes are added
 */
record VectorLowering(Algebra algebra) {
    /** Maps {@code [n, c, N]} to {@code [n, k, N]}. */
    Value reduce(Reduction reduction, ParameterSet parameters, Value maps) {
        return switch (reduction) {
            case Reduction.Conv conv -> {
                long leaving = conv.outputs(maps.at(1));
                double[] weight = parameters.get("weight").value().toDoubles();
                double[] bias = parameters.get("bias").value().toDoubles();
                Value product =
                        algebra.matmul(algebra.graph().constant("weight", List.of(leaving, maps.at(1)), weight), maps);
                yield algebra.relu(algebra.add(product, algebra.graph().constant("bias", List.of(leaving, 1L), bias)));
            }
            case LayerChannels layer -> {
                LayerChannels.Range range = layer.range()
                        .orElseThrow(
                                () -> new NotExpressibleException("a layer of an unknown backbone: " + layer.text()));
                yield algebra.slice(maps, new int[] {1}, new long[] {range.from()}, new long[] {range.to()});
            }
            case Reduction.Pca _ -> {
                double[] mean = parameters.get("mean").value().toDoubles();
                Value column = algebra.graph().constant("mean", List.of(maps.at(1), 1L), mean);
                yield algebra.matmul(
                        algebra.graph().parameter(parameters.get("components")), algebra.sub(maps, column));
            }
        };
    }

    /** Vectors to vectors. */
    Value normalize(Normalization normalization, ParameterSet parameters, Value vectors) {
        return switch (normalization) {
            case Normalization.Root root -> root(vectors, root.epsilon());
            case Normalization.L2 _ -> unit(vectors);
            case Normalization.Scale _ ->
                algebra.scale(vectors, Math.exp(parameters.get("log").value().item()));
            case Pca _ -> {
                Value mean = algebra.graph().parameter(parameters.get("mean"));
                Value components = algebra.graph().parameter(parameters.get("components"));
                yield algebra.matmul(algebra.sub(vectors, mean), algebra.transpose(components));
            }
        };
    }

    /** The signed root, {@code v / (√(|v|+ε) + √ε)}. */
    Value root(Value vectors, double epsilon) {
        if (epsilon == 0) {
            return algebra.mul(algebra.sign(vectors), algebra.sqrt(algebra.abs(vectors)));
        }
        Value root = algebra.sqrt(algebra.shift(algebra.abs(vectors), epsilon));
        return algebra.div(vectors, algebra.shift(root, Math.sqrt(epsilon)));
    }

    /** Length 1 along the last axis. */
    Value unit(Value vectors) {
        Value squares = algebra.sum(algebra.mul(vectors, vectors), vectors.rank() - 1);
        return algebra.div(vectors, algebra.atLeast(algebra.sqrt(squares), Normalization.L2.SMALLEST_NORM));
    }
}
