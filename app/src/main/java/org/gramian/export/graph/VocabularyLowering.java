package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.export.proto.OnnxProto;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.FisherVector;
import org.gramian.pooling.MultiScaleOrderless;
import org.gramian.tensor.Window;

/** Aggregations with a vocabulary {@code [K, C]} or a Gaussian mixture as operators. */
record VocabularyLowering(Algebra algebra, ParameterSet parameters) {
    private Value words(String name) {
        return algebra.graph().parameter(parameters.get(name));
    }

    private double[] numbers(String name) {
        return parameters.get(name).value().toDoubles();
    }

    /** Returns {@code ‖c_k‖²} times a factor, as a column. */
    private Value squares(String name, double factor) {
        double[] words = numbers(name);
        int channels = Math.toIntExact(parameters.get(name).value().size(1));
        double[] sums = new double[words.length / channels];
        for (int i = 0; i < words.length; i++) {
            sums[i / channels] += factor * words[i] * words[i];
        }
        return algebra.graph().constant("squares", List.of((long) sums.length, 1L), sums);
    }

    /** Returns the one-hot nearest word of every position, {@code [n, N, K]}. */
    private Value nearest(String name, Value maps) {
        Value closeness = algebra.sub(algebra.matmul(words(name), maps), squares(name, 0.5));
        long count = closeness.at(1);
        Value places = algebra.graph()
                .node(
                        "ArgMax",
                        List.of(Value.BATCH, maps.at(2)),
                        List.of(closeness),
                        OnnxProto.Attribute.of("axis", 1),
                        OnnxProto.Attribute.of("keepdims", 0));
        return algebra.graph()
                .node(
                        "Gather",
                        List.of(Value.BATCH, maps.at(2), count),
                        List.of(algebra.identity(count, 1), places),
                        OnnxProto.Attribute.of("axis", 0));
    }

    /** {@code V_k = Σ_p a_kp (x_p − c_k)}, of assignments {@code [n, K, N]}. */
    private Value residuals(Value assignments, Value maps, Value words) {
        Value sums = algebra.matmul(assignments, algebra.transpose(maps));
        return algebra.sub(sums, algebra.mul(algebra.sum(assignments, 2), words));
    }

    private Value flat(Value encoded) {
        return algebra.reshape(encoded, encoded.each());
    }

    Value bagOfWords(BagOfWords bag, Value maps) {
        Value counts = algebra.sumOver(nearest("words", maps), maps.at(2), 1);
        return algebra.reshape(counts, bag.words());
    }

    Value vlad(Vlad vlad, Value maps) {
        Value residuals = residuals(algebra.transpose(nearest("words", maps)), maps, words("words"));
        return flat(vlad.intra() ? algebra.unit(residuals) : residuals);
    }

    Value netVlad(NetVlad netVlad, Value maps) {
        Value x = netVlad.unit() ? algebra.transpose(algebra.unit(algebra.transpose(maps))) : maps;
        double[] bias = numbers("assignBias");
        Value column = algebra.graph().constant("bias", List.of((long) bias.length, 1L), bias);
        Value scores = algebra.add(algebra.matmul(words("assignWeight"), x), column);
        return flat(algebra.unit(residuals(algebra.softmax(scores, 1), x, words("centroids"))));
    }

    Value deepTen(DeepTen deepTen, Value maps) {
        Value squares = algebra.add(algebra.sum(algebra.mul(maps, maps), 1), squares("codewords", 1));
        Value distances = algebra.sub(squares, algebra.scale(algebra.matmul(words("codewords"), maps), 2));
        Value smoothing =
                algebra.graph().constant("smoothing", List.of((long) deepTen.words(), 1L), numbers("smoothing"));
        Value assignments = algebra.softmax(algebra.mul(distances, smoothing), 1);
        return flat(residuals(assignments, maps, words("codewords")));
    }

    /** Maps {@code [n, C, h, w]}. */
    Value multiScale(Value maps) {
        Windows windows = new Windows(algebra.graph());
        List<Value> levels = new ArrayList<>();
        levels.add(algebra.unit(algebra.reshape(windows.globalAverage(maps), maps.at(1))));
        for (MultiScaleOrderless.Level level : MultiScaleOrderless.Level.values()) {
            Window window = level.window(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
            Value means = windows.average(maps, window);
            Value positions = algebra.reshape(means, maps.at(1), means.at(2) * means.at(3));
            Value assigned = algebra.transpose(nearest(level.parameter(), positions));
            levels.add(algebra.unit(flat(residuals(assigned, positions, words(level.parameter())))));
        }
        return algebra.concat(levels, 1);
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
        Value x = algebra.sub(maps, algebra.graph().constant("centre", List.of((long) channels, 1L), centre));
        Value squares = algebra.mul(x, x);
        Value linear = constant("linear", components, (_, i) -> mu[i] / (sigma[i] * sigma[i]), channels);
        Value precision = constant("precision", components, (_, i) -> 0.5 / (sigma[i] * sigma[i]), channels);
        Value scores = algebra.add(
                algebra.sub(algebra.matmul(linear, x), algebra.matmul(precision, squares)),
                algebra.graph().constant("offsets", List.of((long) components, 1L), offsets(w, mu, sigma)));
        Value posteriors = algebra.softmax(scores, 1);
        Value zeroth = algebra.sum(posteriors, 2);
        Value first = algebra.matmul(posteriors, algebra.transpose(x));
        Value second = algebra.matmul(posteriors, algebra.transpose(squares));
        Value means = constant("means", components, (_, i) -> mu[i], channels);
        Value ofMeans = algebra.mul(
                algebra.sub(first, algebra.mul(zeroth, means)),
                constant("per-mean", components, (k, i) -> 1 / (positions * Math.sqrt(w[k]) * sigma[i]), channels));
        Value spread = algebra.add(
                algebra.sub(second, algebra.scale(algebra.mul(first, means), 2)),
                algebra.mul(
                        zeroth,
                        constant("spread", components, (_, i) -> mu[i] * mu[i] - sigma[i] * sigma[i], channels)));
        Value ofDeviations = algebra.mul(
                spread,
                constant(
                        "per-deviation",
                        components,
                        (k, i) -> Math.sqrt(0.5) / (positions * Math.sqrt(w[k]) * sigma[i] * sigma[i]),
                        channels));
        List<Value> both = List.of(flat(ofMeans), flat(ofDeviations));
        return algebra.concat(
                fisher.withWeights() ? List.of(flat(ofWeights(zeroth, w, positions)), both.get(0), both.get(1)) : both,
                1);
    }

    private Value ofWeights(Value zeroth, double[] w, double positions) {
        Value expected = constant("expected", w.length, (k, _) -> positions * w[k], 1);
        Value per = constant("per-weight", w.length, (k, _) -> 1 / (positions * Math.sqrt(w[k])), 1);
        return algebra.mul(algebra.sub(zeroth, expected), per);
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
        return algebra.graph().constant(name, List.of((long) components, (long) channels), values);
    }
}
