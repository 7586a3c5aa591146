package org.gramian.export.graph;

import java.util.List;
import org.gramian.autodiff.ParameterSet;
import org.gramian.pooling.FisherVector;

/**
 * The Fisher vector as operators; all that follows from the mixture alone is computed here, once, in double precision.
 *
 * @param algebra to whose graph nodes are added
 * @param mixture {@code weights [K]}, {@code means [K, C]} and {@code deviations [K, C]}
 */
record FisherLowering(Algebra algebra, ParameterSet mixture) {
    /** A number for each component and channel, by their indexes. */
    @FunctionalInterface
    private interface Formula {
        double at(int component, int place);
    }

    Value lower(FisherVector fisher, Value maps) {
        int components = fisher.components();
        int channels = Math.toIntExact(maps.at(1));
        double positions = (double) maps.at(2);
        double[] w = mixture.get("weights").value().toDoubles();
        double[] centre = new double[channels];
        double[] mu = mixture.get("means").value().toDoubles();
        double[] sigma = mixture.get("deviations").value().toDoubles();
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

    private Value flat(Value encoded) {
        return algebra.reshape(encoded, encoded.each());
    }
}
