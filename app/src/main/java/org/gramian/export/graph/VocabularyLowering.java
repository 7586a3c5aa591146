package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.FisherVector;
import org.gramian.pooling.MultiScaleOrderless;
import org.gramian.tensor.Window;

/** Aggregations with a vocabulary {@code [K, C]} or a Gaussian mixture as operators. */
record VocabularyLowering(Graph graph, HostParameters parameters) {
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

    Value vlad(Vlad vlad, Value maps) {
        Value residuals = residuals(nearest("words", maps).transpose(), maps, parameters.value("words"));
        return (vlad.intra() ? residuals.unit() : residuals).flatten();
    }

    Value netVlad(NetVlad netVlad, Value maps) {
        Value x = netVlad.unit() ? maps.transpose().unit().transpose() : maps;
        Value column = graph.column("bias", parameters.toDoubles("assignBias"));
        Value scores = parameters.value("assignWeight").matmul(x).add(column);
        return residuals(scores.softmax(1), x, parameters.value("centroids"))
                .unit()
                .flatten();
    }

    Value deepTen(Value maps) {
        Value squares = maps.square().sum(1).add(squares("codewords", 1));
        Value distances = squares.sub(parameters.value("codewords").matmul(maps).scale(2));
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
