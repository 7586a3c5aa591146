package org.gramian.export.graph;

import java.util.ArrayList;
import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.export.proto.AttributeProto;
import org.gramian.pooling.Codebook.BagOfWords;
import org.gramian.pooling.Codebook.DeepTen;
import org.gramian.pooling.Codebook.NetVlad;
import org.gramian.pooling.Codebook.Vlad;
import org.gramian.pooling.MultiScaleOrderless;
import org.gramian.tensor.Window;

/**
 * Aggregations with a vocabulary as operators: positions are assigned to words {@code [K, C]}, softly by a softmax or to the
 * nearest.
 *
 * @param algebra to whose graph nodes are added
 * @param parameters of the aggregation
 */
record VocabularyLowering(Algebra algebra, ParameterSet parameters) {
    private Value words(String name) {
        return algebra.graph().parameter(parameters.get(name));
    }

    private double[] numbers(String name) {
        return parameters.get(name).value().toDoubles();
    }

    private VectorLowering vectors() {
        return new VectorLowering(algebra);
    }

    /** One number per word, {@code ‖c_k‖²} times a factor, as a column. */
    private Value squares(String name, double factor) {
        double[] words = numbers(name);
        int channels = Math.toIntExact(parameters.get(name).value().size(1));
        double[] sums = new double[words.length / channels];
        for (int i = 0; i < words.length; i++) {
            sums[i / channels] += factor * words[i] * words[i];
        }
        return algebra.graph().constant("squares", List.of((long) sums.length, 1L), sums);
    }

    /** A 1 for the nearest word of every position, {@code [n, N, K]}. */
    private Value nearest(String name, Value maps) {
        Value closeness = algebra.sub(algebra.matmul(words(name), maps), squares(name, 0.5));
        long count = closeness.at(1);
        Value places = algebra.graph()
                .node(
                        "ArgMax",
                        List.of(Value.BATCH, maps.at(2)),
                        List.of(closeness),
                        AttributeProto.of("axis", 1),
                        AttributeProto.of("keepdims", 0));
        return algebra.graph()
                .node(
                        "Gather",
                        List.of(Value.BATCH, maps.at(2), count),
                        List.of(algebra.identity(count, 1), places),
                        AttributeProto.of("axis", 0));
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
        return flat(vlad.intra() ? vectors().unit(residuals) : residuals);
    }

    Value netVlad(NetVlad netVlad, Value maps) {
        Value x = netVlad.unit() ? algebra.transpose(vectors().unit(algebra.transpose(maps))) : maps;
        double[] bias = numbers("assignBias");
        Value column = algebra.graph().constant("bias", List.of((long) bias.length, 1L), bias);
        Value scores = algebra.add(algebra.matmul(words("assignWeight"), x), column);
        return flat(vectors().unit(residuals(algebra.softmax(scores, 1), x, words("centroids"))));
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
        levels.add(vectors().unit(algebra.reshape(windows.globalAverage(maps), maps.at(1))));
        for (MultiScaleOrderless.Level level : MultiScaleOrderless.Level.values()) {
            Window window = level.window(Math.toIntExact(maps.at(2)), Math.toIntExact(maps.at(3)));
            Value means = windows.average(maps, window);
            Value positions = algebra.reshape(means, maps.at(1), means.at(2) * means.at(3));
            Value assigned = algebra.transpose(nearest(level.parameter(), positions));
            levels.add(vectors().unit(flat(residuals(assigned, positions, words(level.parameter())))));
        }
        return algebra.concat(levels, 1);
    }
}
