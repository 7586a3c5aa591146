package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.backbone.NetworkLayer;
import org.gramian.backbone.Tail;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.Cross;
import org.gramian.pooling.CustomAggregation;
import org.gramian.pooling.FirstOrder.Average;
import org.gramian.pooling.FirstOrder.GeneralizedMean;
import org.gramian.pooling.FirstOrder.Maximum;
import org.gramian.pooling.FirstOrder.Sum;
import org.gramian.pooling.FirstOrder.Weighted;
import org.gramian.pooling.FisherVector;
import org.gramian.pooling.Join;
import org.gramian.pooling.MultiScaleOrderless;
import org.gramian.pooling.NetworkTail;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.Pyramid;
import org.gramian.pooling.Reduction;
import org.gramian.pooling.SecondOrder;
import org.gramian.tensor.Shape;

/**
 * A pooling as operators: features {@code [n, c, h, w]} to descriptors {@code [n, d]}.
 *
 * <p>The switch knows every aggregation: a new one does not compile until it is written here, or refused by name.
 *
 * @param algebra to whose graph nodes are added
 */
record PoolingLowering(Algebra algebra) {
    Value lower(Pooling pooling, ParameterSet parameters, Value features) {
        int index = 0;
        Value maps = algebra.reshape(features, features.at(1), features.at(2) * features.at(3));
        for (Reduction reduction : pooling.reductions()) {
            maps = vectors(reduction.word()).reduce(reduction, pooling.own(parameters, index++), maps);
        }
        Aggregation aggregation = pooling.aggregation();
        Value seen = aggregation.isSpatial() ? algebra.reshape(maps, maps.at(1), features.at(2), features.at(3)) : maps;
        Value x = new PoolingLowering(algebra.at(aggregation.word()))
                .aggregate(aggregation, pooling.own(parameters, index++), seen);
        for (Normalization normalization : pooling.normalizations()) {
            x = vectors(normalization.word()).normalize(normalization, pooling.own(parameters, index++), x);
        }
        return x;
    }

    private VectorLowering vectors(String part) {
        return new VectorLowering(algebra.at(part));
    }

    private Value aggregate(Aggregation aggregation, ParameterSet parameters, Value maps) {
        FirstOrderLowering firstOrder = new FirstOrderLowering(algebra);
        VocabularyLowering vocabulary = new VocabularyLowering(algebra, parameters);
        return switch (aggregation) {
            case SecondOrder path -> new MatrixLowering(algebra).lower(path, parameters, maps);
            case Average _ -> firstOrder.average(maps);
            case Maximum _ -> firstOrder.maximum(maps);
            case Sum sum -> firstOrder.sum(sum, maps);
            case GeneralizedMean mean -> firstOrder.generalizedMean(mean, parameters, maps);
            case Pyramid pyramid -> firstOrder.pyramid(pyramid, maps);
            case Weighted _ -> firstOrder.weighted(maps);
            case FisherVector fisher -> new FisherLowering(algebra, parameters).lower(fisher, maps);
            case NetVlad netVlad -> vocabulary.netVlad(netVlad, maps);
            case DeepTen deepTen -> vocabulary.deepTen(deepTen, maps);
            case Vlad vlad -> vocabulary.vlad(vlad, maps);
            case BagOfWords bag -> vocabulary.bagOfWords(bag, maps);
            case MultiScaleOrderless _ -> vocabulary.multiScale(maps);
            case NetworkTail tail -> tail(tail, parameters, maps);
            case Join join -> join(join, parameters, maps);
            case Cross cross -> firstOrder.cross(cross, maps);
            case CustomAggregation custom ->
                throw new NotExpressibleException(
                        "the custom method " + custom.text() + " has no ONNX formula; use a built-in method");
        };
    }

    private Value tail(NetworkTail pooling, ParameterSet parameters, Value maps) {
        Tail tail = pooling.tail().orElseThrow(() -> new NotExpressibleException("the tail of an unknown network"));
        NetworkLowering network = new NetworkLowering(algebra.graph(), parameters);
        Shape entering = tail.entering(maps.at(2), maps.at(3));
        Value x = new Windows(algebra.graph()).undoResize(maps, entering.at(1), entering.at(2));
        for (NetworkLayer stage : tail.stages()) {
            x = network.lower(stage, x);
        }
        Value mean = x.at(2) * x.at(3) == 1 ? x : new Windows(algebra.graph()).globalAverage(x);
        return algebra.reshape(mean, tail.outputs());
    }

    private Value join(Join join, ParameterSet parameters, Value maps) {
        List<Value> parts = new ArrayList<>();
        for (int i = 0; i < join.branches().size(); i++) {
            String name = Join.name(i);
            parts.add(
                    new PoolingLowering(algebra.at(name)).lower(join.branches().get(i), parameters.under(name), maps));
        }
        return algebra.concat(parts, 1);
    }
}
