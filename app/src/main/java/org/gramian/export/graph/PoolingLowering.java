package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import org.gramian.backbone.ClassifierTail;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.Cross;
import org.gramian.pooling.CrossCovariance;
import org.gramian.pooling.CustomAggregation;
import org.gramian.pooling.DropCov;
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
import org.gramian.pooling.Radam;
import org.gramian.pooling.Reduction;
import org.gramian.pooling.Reduction.LayerChannels;
import org.gramian.pooling.SecondOrder;
import org.gramian.tensor.Shape;

/** Pooling as operators: features {@code [n, c, h, w]} to descriptors {@code [n, d]}. */
record PoolingLowering(Graph graph) {
    Value lower(Pooling pooling, HostParameters parameters, Value features) {
        int index = 0;
        Value maps = graph.reshape(features, features.at(1), features.at(2) * features.at(3));
        for (Reduction reduction : pooling.reductions()) {
            maps = at(reduction.word()).reduce(reduction, stage(pooling, parameters, index++), maps);
        }
        Aggregation aggregation = pooling.aggregation();
        Value seen = aggregation.isSpatial() ? graph.reshape(maps, maps.at(1), features.at(2), features.at(3)) : maps;
        Value x = at(aggregation.word()).aggregate(aggregation, stage(pooling, parameters, index++), seen);
        for (Normalization normalization : pooling.normalizations()) {
            x = at(normalization.word()).normalize(normalization, stage(pooling, parameters, index++), x);
        }
        return x;
    }

    private static HostParameters stage(Pooling pooling, HostParameters parameters, int index) {
        return pooling.prefix(index).map(parameters::under).orElse(parameters);
    }

    private PoolingLowering at(String part) {
        return new PoolingLowering(graph.at(part));
    }

    private Value aggregate(Aggregation aggregation, HostParameters parameters, Value maps) {
        VocabularyLowering vocabulary = new VocabularyLowering(graph, parameters);
        return switch (aggregation) {
            case SecondOrder path -> new MatrixLowering(graph).lower(path, parameters, maps);
            case Average _ -> average(maps);
            case Maximum _ -> maximum(maps);
            case Sum sum -> sum(sum, maps);
            case GeneralizedMean mean -> generalizedMean(mean, parameters, maps);
            case Pyramid pyramid -> pyramid(pyramid, maps);
            case Weighted _ -> weighted(maps);
            case FisherVector fisher -> vocabulary.fisher(fisher, maps);
            case NetVlad netVlad -> vocabulary.netVlad(netVlad, maps);
            case DeepTen _ -> vocabulary.deepTen(maps);
            case Vlad vlad -> vocabulary.vlad(vlad, maps);
            case BagOfWords bag -> vocabulary.bagOfWords(bag, maps);
            case MultiScaleOrderless _ -> vocabulary.multiScale(maps);
            case NetworkTail tail -> tail(tail, parameters, maps);
            case Join join -> join(join, parameters, maps);
            case Cross cross -> cross(cross, maps);
            case CrossCovariance heads -> crossCovariance(heads, parameters, maps);
            case Radam radam -> radam(radam, maps);
            case CustomAggregation custom ->
                throw new NotExpressibleException(
                        "the custom method " + custom.text() + " has no ONNX formula; use a built-in method");
        };
    }

    private Value tail(NetworkTail pooling, HostParameters parameters, Value maps) {
        ClassifierTail tail =
                pooling.tail().orElseThrow(() -> new NotExpressibleException("the tail of an unknown network"));
        NetworkLowering network = new NetworkLowering(graph, parameters);
        Shape entering = tail.entering(maps.at(2), maps.at(3));
        Value x = graph.undoResize(maps, entering.at(1), entering.at(2));
        for (NetworkLayer stage : tail.stages(NetworkLayer.class)) {
            x = network.lower(stage, x);
        }
        Value mean = x.at(2) * x.at(3) == 1 ? x : graph.globalAverage(x);
        return graph.reshape(mean, tail.outputs());
    }

    private Value join(Join join, HostParameters parameters, Value maps) {
        List<Value> parts = new ArrayList<>();
        for (int i = 0; i < join.branches().size(); i++) {
            String name = Join.name(i);
            parts.add(at(name).lower(join.branches().get(i), parameters.under(name), maps));
        }
        return graph.concat(parts, 1);
    }

    /** Reduces maps {@code [n, c, N]} to {@code [n, k, N]}. */
    private Value reduce(Reduction reduction, HostParameters parameters, Value maps) {
        return switch (reduction) {
            case Reduction.Conv conv -> {
                long leaving = conv.outputs(maps.at(1));
                double[] weight = parameters.toDoubles("weight");
                double[] bias = parameters.toDoubles("bias");
                Value product = graph.matmul(graph.constant("weight", List.of(leaving, maps.at(1)), weight), maps);
                yield graph.relu(graph.add(product, graph.column("bias", bias)));
            }
            case LayerChannels layer -> {
                LayerChannels.Range range = layer.range()
                        .orElseThrow(
                                () -> new NotExpressibleException("a layer of an unknown backbone: " + layer.text()));
                yield graph.slice(maps, 1, range.from(), range.to());
            }
            case DropCov _ -> {
                Value plain = graph.sumOver(maps, maps.at(2), 2);
                Value square = graph.sumOver(graph.mul(plain, plain), maps.at(1), 1);
                Value means = graph.div(plain, graph.sqrt(graph.shift(square, DropCov.SMALLEST_SQUARE)));
                Value scores = graph.matmul(neighbours(maps.at(1), parameters.toDoubles("weight")), means);
                yield graph.mul(maps, graph.shift(graph.softmax(scores, 1), 1));
            }
            case Reduction.Pca _ -> {
                double[] mean = parameters.toDoubles("mean");
                Value column = graph.column("mean", mean);
                yield graph.matmul(graph.parameter(parameters, "components"), graph.sub(maps, column));
            }
        };
    }

    /** Returns the matrix of a convolution of three weights along the channels. */
    private Value neighbours(long channels, double[] weights) {
        int size = Math.toIntExact(channels);
        double[] matrix = new double[size * size];
        for (int i = 0; i < size; i++) {
            for (int j = Math.max(0, i - 1); j <= Math.min(size - 1, i + 1); j++) {
                matrix[i * size + j] = weights[j - i + 1];
            }
        }
        return graph.constant("neighbours", List.of(channels, channels), matrix);
    }

    private Value normalize(Normalization normalization, HostParameters parameters, Value vectors) {
        return switch (normalization) {
            case Normalization.Root root -> graph.signedRoot(vectors, root.epsilon());
            case Normalization.L2 _ -> graph.unit(vectors);
            case Normalization.Scale _ -> graph.scale(vectors, Math.exp(parameters.item("log")));
            case Normalization.Pca _ -> {
                Value mean = graph.parameter(parameters, "mean");
                Value components = graph.parameter(parameters, "components");
                yield graph.matmul(graph.sub(vectors, mean), graph.transpose(components));
            }
        };
    }

    private Value average(Value maps) {
        return graph.reshape(graph.sumOver(maps, maps.at(2), 2), maps.at(1));
    }

    private Value maximum(Value maps) {
        return graph.reshape(largest(maps), maps.at(1));
    }

    /** {@code [n, C, 1]}. */
    private Value largest(Value maps) {
        Value rows = graph.reshape(maps, maps.at(1), 1, maps.at(2));
        return graph.reshape(graph.globalMax(rows), maps.at(1), 1);
    }

    private Value sum(Sum sum, Value maps) {
        return switch (sum.prior()) {
            case NONE -> graph.reshape(graph.sum(maps, 2), maps.at(1));
            case CENTER -> {
                double[] weights = Sum.centred(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
                Value column = graph.column("prior", weights);
                Value flat = graph.reshape(maps, maps.at(1), weights.length);
                yield graph.reshape(graph.matmul(flat, column), maps.at(1));
            }
        };
    }

    private Value generalizedMean(GeneralizedMean mean, HostParameters parameters, Value maps) {
        double p = mean.learned() ? Math.exp(parameters.item("logP")) : mean.p();
        Value y = graph.atLeast(maps, GeneralizedMean.SMALLEST);
        Value m = largest(y);
        Value powers = graph.exp(graph.scale(graph.log(graph.div(y, m)), p));
        Value s = graph.sumOver(powers, maps.at(2), 2);
        Value root = graph.exp(graph.scale(graph.log(s), 1 / p));
        return graph.reshape(graph.mul(m, root), maps.at(1));
    }

    private Value pyramid(Pyramid pyramid, Value maps) {
        Shape shape = Shape.of(1, maps.at(1), maps.at(2), maps.at(3));
        List<Pyramid.Cell> cells = pyramid.cells(shape);
        long channels = maps.at(1);
        return switch (pyramid.statistic()) {
            case MEAN -> {
                long positions = maps.at(2) * maps.at(3);
                Value averaging = graph.constant(
                        "averaging", List.of((long) cells.size(), positions), Pyramid.averaging(cells, shape));
                Value rows = graph.transpose(graph.reshape(maps, channels, positions));
                yield graph.reshape(graph.matmul(averaging, rows), cells.size() * channels);
            }
            case MAX -> {
                List<Value> maxima = new ArrayList<>();
                for (Pyramid.Cell cell : cells) {
                    long[] starts = {cell.top(), cell.left()};
                    Value part = graph.slice(maps, new int[] {2, 3}, starts, new long[] {cell.bottom(), cell.right()});
                    maxima.add(graph.reshape(graph.globalMax(part), channels));
                }
                yield graph.concat(maxima, 1);
            }
        };
    }

    private Value weighted(Value maps) {
        Value positive = graph.relu(maps);
        Value responses = graph.reshape(graph.sum(positive, 1), maps.at(2));
        Value s = graph.signedRoot(graph.unit(responses), 0);
        Value sums = graph.matmul(maps, graph.reshape(s, maps.at(2), 1));
        Value share = graph.sumOver(graph.sign(positive), maps.at(2), 2);
        Value all = graph.shift(graph.sum(share, 1), Weighted.MARGIN * maps.at(1));
        Value b = graph.log(graph.div(all, graph.shift(share, Weighted.MARGIN)));
        return graph.reshape(graph.mul(sums, b), maps.at(1));
    }

    private Value radam(Radam radam, Value maps) {
        int channels = Math.toIntExact(maps.at(1));
        int height = Math.toIntExact(maps.at(2));
        int width = Math.toIntExact(maps.at(3));
        long positions = (long) height * width;
        Value encoding = graph.constant(
                "encoding", List.of((long) channels, positions), Radam.encoding(channels, height, width));
        Value x = graph.add(graph.unit(graph.reshape(maps, channels, positions)), encoding);
        Value weights = graph.constant(
                "weights",
                List.of((long) radam.encoders(), (long) channels),
                Radam.weights(radam.encoders(), channels));
        Value exponents = graph.exp(graph.scale(graph.matmul(weights, x), -1));
        Value hidden = graph.power(graph.shift(exponents, 1), -1);
        Value shares = graph.sum(graph.div(hidden, graph.sum(graph.mul(hidden, hidden), 2)), 1);
        return graph.reshape(graph.matmul(x, graph.transpose(shares)), channels);
    }

    private Value crossCovariance(CrossCovariance pooling, HostParameters parameters, Value maps) {
        long positions = maps.at(2);
        long heads = pooling.heads();
        long size = pooling.size();
        Value centred = graph.sub(maps, graph.sumOver(maps, positions, 2));
        Value projected = graph.matmul(graph.parameter(parameters, "weight"), centred);
        Value parts = graph.reshape(projected, 2 * heads, size, positions);
        Value a = graph.slice(parts, 1, 0, heads);
        Value b = graph.slice(parts, 1, heads, 2 * heads);
        Value x = graph.scale(graph.matmul(a, graph.transpose(b)), 1.0 / positions);
        Value s = graph.parameter(parameters, "start");
        for (int i = 0; i < pooling.iterations(); i++) {
            Value u = graph.transpose(graph.unit(graph.transpose(graph.matmul(x, s))));
            s = graph.matmul(graph.transpose(x), u);
        }
        Value square = graph.shift(graph.sum(graph.mul(s, s), 2), CrossCovariance.SMALLEST_SQUARE);
        return graph.reshape(graph.div(x, graph.power(square, 0.25)), heads * size * size);
    }

    private Value cross(Cross cross, Value maps) {
        long first = cross.first().orElseThrow();
        Value a = graph.slice(maps, 1, 0, first);
        Value b = graph.slice(maps, 1, first, maps.at(1));
        Value products = graph.matmul(a, graph.transpose(b));
        return graph.reshape(graph.scale(products, 1.0 / maps.at(2)), products.each());
    }
}
