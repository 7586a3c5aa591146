package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.backbone.ClassifierTail;
import org.gramian.backbone.network.NetworkLayer;
import org.gramian.pooling.Aggregation;
import org.gramian.pooling.Codebook;
import org.gramian.pooling.Cross;
import org.gramian.pooling.Cross.CrossCovariance;
import org.gramian.pooling.CustomAggregation;
import org.gramian.pooling.DropCov;
import org.gramian.pooling.FirstOrder;
import org.gramian.pooling.FisherVector;
import org.gramian.pooling.Join;
import org.gramian.pooling.MultiScaleOrderless;
import org.gramian.pooling.NetworkTail;
import org.gramian.pooling.Normalization;
import org.gramian.pooling.Pooling;
import org.gramian.pooling.Pyramid;
import org.gramian.pooling.Radam;
import org.gramian.pooling.Reduction;
import org.gramian.pooling.SecondOrder;
import org.gramian.tensor.Convolution.Window;
import org.gramian.tensor.Shape;

/** Pooling as operators: features {@code [n, c, h, w]} to descriptors {@code [n, d]}. */
record PoolingLowering(Graph graph) {
    Value lower(Pooling pooling, HostParameters parameters, Value features) {
        int index = 0;
        Value maps = features.reshape(features.at(1), features.at(2) * features.at(3));
        for (Reduction reduction : pooling.reductions()) {
            HostParameters own = stage(pooling, parameters, index++);
            Value entering = maps;
            maps = graph.in(reduction.word(), () -> reduce(reduction, own, entering));
        }
        Aggregation aggregation = pooling.aggregation();
        Value seen = aggregation.isSpatial() ? maps.reshape(maps.at(1), features.at(2), features.at(3)) : maps;
        HostParameters ofAggregation = stage(pooling, parameters, index++);
        Value x = graph.in(aggregation.word(), () -> aggregate(aggregation, ofAggregation, seen));
        for (Normalization normalization : pooling.normalizations()) {
            HostParameters own = stage(pooling, parameters, index++);
            Value entering = x;
            x = graph.in(normalization.word(), () -> normalize(normalization, own, entering));
        }
        return x;
    }

    private static HostParameters stage(Pooling pooling, HostParameters parameters, int index) {
        return pooling.prefix(index).map(parameters::under).orElse(parameters);
    }

    private Value aggregate(Aggregation aggregation, HostParameters parameters, Value maps) {
        VocabularyLowering vocabulary = new VocabularyLowering(graph, parameters);
        return switch (aggregation) {
            case SecondOrder path -> new MatrixLowering(graph).lower(path, parameters, maps);
            case FirstOrder.Average _ -> maps.mean(2).flatten();
            case FirstOrder.Maximum _ -> largest(maps).flatten();
            case FirstOrder.Sum sum -> sum(sum, maps);
            case FirstOrder.GeneralizedMean mean -> generalizedMean(mean, parameters, maps);
            case Pyramid pyramid -> pyramid(pyramid, maps);
            case FirstOrder.Weighted _ -> weighted(maps);
            case FisherVector fisher -> vocabulary.fisher(fisher, maps);
            case Codebook.NetVlad netVlad -> vocabulary.netVlad(netVlad, maps);
            case Codebook.DeepTen _ -> vocabulary.deepTen(maps);
            case Codebook.Vlad vlad -> vocabulary.vlad(vlad, maps);
            case Codebook.BagOfWords _ -> vocabulary.bagOfWords(maps);
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
        Value x = maps.undoResize(entering.at(1), entering.at(2));
        for (NetworkLayer stage : tail.stages(NetworkLayer.class)) {
            x = network.lower(stage, x);
        }
        Value mean = x.at(2) * x.at(3) == 1 ? x : x.globalAverage();
        return mean.flatten();
    }

    private Value join(Join join, HostParameters parameters, Value maps) {
        List<Value> parts = new ArrayList<>();
        for (int i = 0; i < join.branches().size(); i++) {
            String name = Join.name(i);
            Pooling branch = join.branches().get(i);
            parts.add(graph.in(name, () -> lower(branch, parameters.under(name), maps)));
        }
        return graph.concat(parts, 1);
    }

    /** Reduces maps {@code [n, c, N]} to {@code [n, k, N]}. */
    private Value reduce(Reduction reduction, HostParameters parameters, Value maps) {
        return switch (reduction) {
            case Reduction.Conv conv -> {
                long leaving = conv.outputs(maps.at(1));
                List<Long> sizes = List.of(leaving, maps.at(1));
                Value product = graph.constant("weight", sizes, parameters.toDoubles("weight"))
                        .matmul(maps);
                yield product.add(graph.column("bias", parameters.toDoubles("bias")))
                        .relu();
            }
            case Reduction.LayerChannels layer -> {
                Reduction.LayerChannels.Range range = layer.range()
                        .orElseThrow(
                                () -> new NotExpressibleException("a layer of an unknown backbone: " + layer.text()));
                yield maps.slice(1, range.from(), range.to());
            }
            case DropCov _ -> {
                Value plain = maps.mean(2);
                Value square = plain.square().mean(1);
                Value means = plain.div(square.shift(DropCov.SMALLEST_SQUARE).sqrt());
                Value scores =
                        neighbours(maps.at(1), parameters.toDoubles("weight")).matmul(means);
                yield maps.mul(scores.softmax(1).shift(1));
            }
            case Reduction.Pca _ -> {
                Value centred = maps.sub(graph.column("mean", parameters.toDoubles("mean")));
                yield parameters.value("components").matmul(centred);
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
            case Normalization.Root root -> vectors.signedRoot(root.epsilon());
            case Normalization.L2 _ -> vectors.unit();
            case Normalization.Scale _ -> vectors.scale(Math.exp(parameters.item("log")));
            case Normalization.Pca _ -> {
                Value mean = parameters.value("mean");
                Value components = parameters.value("components");
                yield vectors.sub(mean).matmul(components.transpose());
            }
        };
    }

    /** {@code [n, C, 1]}. */
    private Value largest(Value maps) {
        return maps.reshape(maps.at(1), 1, maps.at(2)).globalMax().reshape(maps.at(1), 1);
    }

    private Value sum(FirstOrder.Sum sum, Value maps) {
        return switch (sum.prior()) {
            case NONE -> maps.sum(2).flatten();
            case CENTER -> {
                double[] weights = FirstOrder.Sum.centred(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
                Value prior = graph.column("prior", weights);
                yield maps.reshape(maps.at(1), weights.length).matmul(prior).flatten();
            }
        };
    }

    private Value generalizedMean(FirstOrder.GeneralizedMean mean, HostParameters parameters, Value maps) {
        double p = mean.learned() ? Math.exp(parameters.item("logP")) : mean.p();
        Value y = maps.atLeast(FirstOrder.GeneralizedMean.SMALLEST);
        Value m = largest(y);
        Value powers = y.div(m).log().scale(p).exp().mean(2);
        return m.mul(powers.log().scale(1 / p).exp()).flatten();
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
                Value rows = maps.reshape(channels, positions).transpose();
                yield averaging.matmul(rows).flatten();
            }
            case MAX -> {
                List<Value> maxima = new ArrayList<>();
                for (Pyramid.Cell cell : cells) {
                    long[] starts = {cell.top(), cell.left()};
                    Value part = maps.slice(new int[] {2, 3}, starts, new long[] {cell.bottom(), cell.right()});
                    maxima.add(part.globalMax().flatten());
                }
                yield graph.concat(maxima, 1);
            }
        };
    }

    private Value weighted(Value maps) {
        Value positive = maps.relu();
        Value responses = positive.sum(1).flatten();
        Value s = responses.unit().signedRoot(0);
        Value sums = maps.matmul(s.reshape(maps.at(2), 1));
        Value share = positive.sign().mean(2);
        Value all = share.sum(1).shift(FirstOrder.Weighted.MARGIN * maps.at(1));
        Value b = all.div(share.shift(FirstOrder.Weighted.MARGIN)).log();
        return sums.mul(b).flatten();
    }

    private Value radam(Radam radam, Value maps) {
        int channels = Math.toIntExact(maps.at(1));
        int height = Math.toIntExact(maps.at(2));
        int width = Math.toIntExact(maps.at(3));
        long positions = (long) height * width;
        Value encoding = graph.constant(
                "encoding", List.of((long) channels, positions), Radam.encoding(channels, height, width));
        Value x = maps.reshape(channels, positions).unit().add(encoding);
        Value weights = graph.constant(
                "weights",
                List.of((long) radam.encoders(), (long) channels),
                Radam.weights(radam.encoders(), channels));
        Value exponents = weights.matmul(x).scale(-1).exp();
        Value hidden = exponents.shift(1).power(-1);
        Value shares = hidden.div(hidden.square().sum(2)).sum(1);
        return x.matmul(shares.transpose()).flatten();
    }

    private Value crossCovariance(CrossCovariance pooling, HostParameters parameters, Value maps) {
        long positions = maps.at(2);
        long heads = pooling.heads();
        long size = pooling.size();
        Value centred = maps.sub(maps.mean(2));
        Value projected = parameters.value("weight").matmul(centred);
        Value parts = projected.reshape(2 * heads, size, positions);
        Value a = parts.slice(1, 0, heads);
        Value b = parts.slice(1, heads, 2 * heads);
        Value x = a.matmul(b.transpose()).scale(1.0 / positions);
        Value s = parameters.value("start");
        for (int i = 0; i < pooling.iterations(); i++) {
            Value u = x.matmul(s).transpose().unit().transpose();
            s = x.transpose().matmul(u);
        }
        Value square = s.square().sum(2).shift(CrossCovariance.SMALLEST_SQUARE);
        return x.div(square.power(0.25)).flatten();
    }

    private Value cross(Cross cross, Value maps) {
        long first = cross.first().orElseThrow();
        Value a = maps.slice(1, 0, first);
        Value b = maps.slice(1, first, maps.at(1));
        return a.matmul(b.transpose()).scale(1.0 / maps.at(2)).flatten();
    }

    /** Aggregations with a vocabulary {@code [K, C]} or a Gaussian mixture. */
    private record VocabularyLowering(Graph graph, HostParameters parameters) {
        /** Returns {@code ‖c_k‖²} times a factor, as a column. */
        private Value squares(String name, double factor) {
            double[] words = parameters.toDoubles(name);
            int channels = Math.toIntExact(parameters.get(name).shape().at(1));
            double[] sums = new double[words.length / channels];
            for (int i = 0; i < words.length; i++) {
                sums[i / channels] += factor * words[i] * words[i];
            }
            return graph.column("squares", sums);
        }

        /** Returns the one-hot nearest word of every position, {@code [n, N, K]}. */
        private Value nearest(String name, Value maps) {
            Value closeness = parameters.value(name).matmul(maps).sub(squares(name, 0.5));
            long count = closeness.at(1);
            Value words = graph.node(
                    "ArgMax", List.of(Value.BATCH, maps.at(2)), List.of(closeness), Map.of("axis", 1L, "keepdims", 0L));
            return graph.node(
                    "Gather",
                    List.of(Value.BATCH, maps.at(2), count),
                    List.of(graph.identity(count, 1), words),
                    Map.of("axis", 0L));
        }

        /** {@code V_k = Σ_p a_kp (x_p − c_k)}, of assignments {@code [n, K, N]}. */
        private Value residuals(Value assignments, Value maps, Value words) {
            Value sums = assignments.matmul(maps.transpose());
            return sums.sub(assignments.sum(2).mul(words));
        }

        Value bagOfWords(Value maps) {
            return nearest("words", maps).mean(1).flatten();
        }

        Value vlad(Codebook.Vlad vlad, Value maps) {
            Value residuals = residuals(nearest("words", maps).transpose(), maps, parameters.value("words"));
            return (vlad.intra() ? residuals.unit() : residuals).flatten();
        }

        Value netVlad(Codebook.NetVlad netVlad, Value maps) {
            Value x = netVlad.unit() ? maps.transpose().unit().transpose() : maps;
            Value column = graph.column("bias", parameters.toDoubles("assignBias"));
            Value scores = parameters.value("assignWeight").matmul(x).add(column);
            return residuals(scores.softmax(1), x, parameters.value("centroids"))
                    .unit()
                    .flatten();
        }

        Value deepTen(Value maps) {
            Value squares = maps.square().sum(1).add(squares("codewords", 1));
            Value distances =
                    squares.sub(parameters.value("codewords").matmul(maps).scale(2));
            Value smoothing = graph.column("smoothing", parameters.toDoubles("smoothing"));
            Value assignments = distances.mul(smoothing).softmax(1);
            return residuals(assignments, maps, parameters.value("codewords")).flatten();
        }

        /** Maps {@code [n, C, h, w]}. */
        Value multiScale(Value maps) {
            List<Value> levels = new ArrayList<>();
            levels.add(maps.globalAverage().flatten().unit());
            for (MultiScaleOrderless.Level level : MultiScaleOrderless.Level.values()) {
                Window window = level.window(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
                Value means = maps.averagePool(window);
                Value positions = means.reshape(maps.at(1), means.at(2) * means.at(3));
                Value assigned = nearest(level.parameter(), positions).transpose();
                levels.add(residuals(assigned, positions, parameters.value(level.parameter()))
                        .flatten()
                        .unit());
            }
            return graph.concat(levels, 1);
        }

        /** Value by component and index. */
        @FunctionalInterface
        private interface Formula {
            double at(int component, int place);
        }

        /** Computes the Fisher vector; constants of the mixture are computed in double precision. */
        Value fisher(FisherVector fisher, Value maps) {
            int components = fisher.components();
            int channels = Math.toIntExact(maps.at(1));
            double positions = (double) maps.at(2);
            double[] w = parameters.toDoubles("weights");
            double[] centre = new double[channels];
            double[] mu = parameters.toDoubles("means");
            double[] sigma = parameters.toDoubles("deviations");
            for (int i = 0; i < mu.length; i++) {
                centre[i % channels] += w[i / channels] * mu[i];
            }
            for (int i = 0; i < mu.length; i++) {
                mu[i] -= centre[i % channels];
            }
            Value x = maps.sub(graph.column("centre", centre));
            Value squares = x.square();
            Value linear = constant("linear", components, (_, i) -> mu[i] / (sigma[i] * sigma[i]), channels);
            Value precision = constant("precision", components, (_, i) -> 0.5 / (sigma[i] * sigma[i]), channels);
            Value scores =
                    linear.matmul(x).sub(precision.matmul(squares)).add(graph.column("offsets", offsets(w, mu, sigma)));
            Value posteriors = scores.softmax(1);
            Value zeroth = posteriors.sum(2);
            Value first = posteriors.matmul(x.transpose());
            Value second = posteriors.matmul(squares.transpose());
            Value means = constant("means", components, (_, i) -> mu[i], channels);
            Value ofMeans = first.sub(zeroth.mul(means))
                    .mul(constant(
                            "per-mean", components, (k, i) -> 1 / (positions * Math.sqrt(w[k]) * sigma[i]), channels));
            Value spread = second.sub(first.mul(means).scale(2))
                    .add(zeroth.mul(
                            constant("spread", components, (_, i) -> mu[i] * mu[i] - sigma[i] * sigma[i], channels)));
            Value ofDeviations = spread.mul(constant(
                    "per-deviation",
                    components,
                    (k, i) -> Math.sqrt(0.5) / (positions * Math.sqrt(w[k]) * sigma[i] * sigma[i]),
                    channels));
            List<Value> parts = new ArrayList<>(List.of(ofMeans.flatten(), ofDeviations.flatten()));
            if (fisher.withWeights()) {
                parts.addFirst(ofWeights(zeroth, w, positions).flatten());
            }
            return graph.concat(parts, 1);
        }

        private Value ofWeights(Value zeroth, double[] w, double positions) {
            Value expected = constant("expected", w.length, (k, _) -> positions * w[k], 1);
            Value per = constant("per-weight", w.length, (k, _) -> 1 / (positions * Math.sqrt(w[k])), 1);
            return zeroth.sub(expected).mul(per);
        }

        /** {@code log w_k − ½ Σ (log σ² + μ²/σ²)}. */
        private static double[] offsets(double[] w, double[] mu, double[] sigma) {
            double[] offsets = new double[w.length];
            int channels = mu.length / w.length;
            for (int k = 0; k < w.length; k++) {
                offsets[k] = Math.log(w[k]);
            }
            for (int i = 0; i < mu.length; i++) {
                double variance = sigma[i] * sigma[i];
                offsets[i / channels] -= 0.5 * (Math.log(variance) + mu[i] * mu[i] / variance);
            }
            return offsets;
        }

        private Value constant(String name, int components, Formula formula, int channels) {
            double[] values = new double[components * channels];
            for (int i = 0; i < values.length; i++) {
                values[i] = formula.at(i / channels, i);
            }
            return graph.constant(name, List.of((long) components, (long) channels), values);
        }
    }
}
