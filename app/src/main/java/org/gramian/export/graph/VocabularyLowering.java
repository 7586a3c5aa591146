package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.FisherVector;
import org.gramian.pooling.MultiScaleOrderless;
import org.gramian.tensor.Window;

/** Aggregations with a vocabulary {@code [K, C]} or a Gaussian mixture as operators. */
record VocabularyLowering(Graph graph, HostParameters parameters) {
    private Value words(String name) {
        return graph.parameter(parameters, name);
    }

    private double[] numbers(String name) {
        return parameters.toDoubles(name);
    }

    /** Returns {@code ‖c_k‖²} times a factor, as a column. */
    private Value squares(String name, double factor) {
        double[] words = numbers(name);
        int channels = Math.toIntExact(parameters.get(name).shape().at(1));
        double[] sums = new double[words.length / channels];
        for (int i = 0; i < words.length; i++) {
            sums[i / channels] += factor * words[i] * words[i];
        }
        return graph.column("squares", sums);
    }

    /** Returns the one-hot nearest word of every position, {@code [n, N, K]}. */
    private Value nearest(String name, Value maps) {
        Value closeness = graph.sub(graph.matmul(words(name), maps), squares(name, 0.5));
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
        Value sums = graph.matmul(assignments, graph.transpose(maps));
        return graph.sub(sums, graph.mul(graph.sum(assignments, 2), words));
    }

    private Value flat(Value encoded) {
        return graph.reshape(encoded, encoded.each());
    }

    Value bagOfWords(BagOfWords bag, Value maps) {
        Value counts = graph.sumOver(nearest("words", maps), maps.at(2), 1);
        return graph.reshape(counts, bag.words());
    }

    Value vlad(Vlad vlad, Value maps) {
        Value residuals = residuals(graph.transpose(nearest("words", maps)), maps, words("words"));
        return flat(vlad.intra() ? graph.unit(residuals) : residuals);
    }

    Value netVlad(NetVlad netVlad, Value maps) {
        Value x = netVlad.unit() ? graph.transpose(graph.unit(graph.transpose(maps))) : maps;
        Value column = graph.column("bias", numbers("assignBias"));
        Value scores = graph.add(graph.matmul(words("assignWeight"), x), column);
        return flat(graph.unit(residuals(graph.softmax(scores, 1), x, words("centroids"))));
    }

    Value deepTen(Value maps) {
        Value squares = graph.add(graph.sum(graph.mul(maps, maps), 1), squares("codewords", 1));
        Value distances = graph.sub(squares, graph.scale(graph.matmul(words("codewords"), maps), 2));
        Value smoothing = graph.column("smoothing", numbers("smoothing"));
        Value assignments = graph.softmax(graph.mul(distances, smoothing), 1);
        return flat(residuals(assignments, maps, words("codewords")));
    }

    /** Maps {@code [n, C, h, w]}. */
    Value multiScale(Value maps) {
        List<Value> levels = new ArrayList<>();
        levels.add(graph.unit(graph.reshape(graph.globalAverage(maps), maps.at(1))));
        for (MultiScaleOrderless.Level level : MultiScaleOrderless.Level.values()) {
            Window window = level.window(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
            Value means = graph.averagePool(maps, window);
            Value positions = graph.reshape(means, maps.at(1), means.at(2) * means.at(3));
            Value assigned = graph.transpose(nearest(level.parameter(), positions));
            levels.add(graph.unit(flat(residuals(assigned, positions, words(level.parameter())))));
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
        double[] w = numbers("weights");
        double[] centre = new double[channels];
        double[] mu = numbers("means");
        double[] sigma = numbers("deviations");
        for (int i = 0; i < mu.length; i++) {
            centre[i % channels] += w[i / channels] * mu[i];
        }
        for (int i = 0; i < mu.length; i++) {
            mu[i] -= centre[i % channels];
        }
        Value x = graph.sub(maps, graph.column("centre", centre));
        Value squares = graph.mul(x, x);
        Value linear = constant("linear", components, (_, i) -> mu[i] / (sigma[i] * sigma[i]), channels);
        Value precision = constant("precision", components, (_, i) -> 0.5 / (sigma[i] * sigma[i]), channels);
        Value scores = graph.add(
                graph.sub(graph.matmul(linear, x), graph.matmul(precision, squares)),
                graph.column("offsets", offsets(w, mu, sigma)));
        Value posteriors = graph.softmax(scores, 1);
        Value zeroth = graph.sum(posteriors, 2);
        Value first = graph.matmul(posteriors, graph.transpose(x));
        Value second = graph.matmul(posteriors, graph.transpose(squares));
        Value means = constant("means", components, (_, i) -> mu[i], channels);
        Value ofMeans = graph.mul(
                graph.sub(first, graph.mul(zeroth, means)),
                constant("per-mean", components, (k, i) -> 1 / (positions * Math.sqrt(w[k]) * sigma[i]), channels));
        Value spread = graph.add(
                graph.sub(second, graph.scale(graph.mul(first, means), 2)),
                graph.mul(
                        zeroth,
                        constant("spread", components, (_, i) -> mu[i] * mu[i] - sigma[i] * sigma[i], channels)));
        Value ofDeviations = graph.mul(
                spread,
                constant(
                        "per-deviation",
                        components,
                        (k, i) -> Math.sqrt(0.5) / (positions * Math.sqrt(w[k]) * sigma[i] * sigma[i]),
                        channels));
        List<Value> both = List.of(flat(ofMeans), flat(ofDeviations));
        return graph.concat(
                fisher.withWeights() ? List.of(flat(ofWeights(zeroth, w, positions)), both.get(0), both.get(1)) : both,
                1);
    }

    private Value ofWeights(Value zeroth, double[] w, double positions) {
        Value expected = constant("expected", w.length, (k, _) -> positions * w[k], 1);
        Value per = constant("per-weight", w.length, (k, _) -> 1 / (positions * Math.sqrt(w[k])), 1);
        return graph.mul(graph.sub(zeroth, expected), per);
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
