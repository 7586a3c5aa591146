package org.gramian.export;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Locale;
import org.gramian.model.Engine;
import org.gramian.model.Logits;
import org.gramian.tensor.Shape;

/**
 * Maximum absolute differences between ONNX Runtime and libtorch on the same crops.
 *
 * @param descriptors largest difference of descriptor elements; informative, not part of {@link #holds}
 * @param distances largest difference of distances from the classes; 0 if the model has none
 */
public record EngineDifference(
        long crops, double scores, double largestScore, double probabilities, double descriptors, double distances) {
    /** Tolerance of probabilities, and of scores relative to {@code max(1, largestScore)}. */
    public static final double MOST = 1e-3;

    /** Tolerance of distances from the classes, which differ by several units from image to image. */
    private static final double MAX_DISTANCE = 1e-2;

    /** Returns the neutral element of {@link #and}: no crops, no differences. */
    public static EngineDifference none() {
        return new EngineDifference(0, 0, 0, 0, 0, 0);
    }

    /** Compares an exported model in ONNX Runtime with the original in libtorch. */
    public static EngineDifference of(OnnxEngine onnx, Engine libtorch, float[] crops, Shape shape) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocateFrom(ValueLayout.JAVA_FLOAT, crops);
            float[][] expected = libtorch.compute(memory, shape, Engine.Rows.SCORES);
            double temperature = onnx.header().card().temperature();
            float[][] probabilities = onnx.probabilities(memory, shape);
            double ofProbabilities = 0;
            for (int i = 0; i < expected.length; i++) {
                double[] wanted = Logits.ofCrops(new float[][] {expected[i]}).probabilities(temperature);
                for (int k = 0; k < wanted.length; k++) {
                    ofProbabilities = larger(ofProbabilities, Math.abs(wanted[k] - probabilities[i][k]));
                }
            }
            return new EngineDifference(
                    shape.at(0),
                    difference(expected, onnx.compute(memory, shape, Engine.Rows.SCORES)),
                    difference(
                            expected, new float[expected.length][expected[0].length]), // from 0: the largest magnitude
                    ofProbabilities,
                    difference(
                            libtorch.compute(memory, shape, Engine.Rows.DESCRIPTORS),
                            onnx.compute(memory, shape, Engine.Rows.DESCRIPTORS)),
                    onnx.header().card().openSet().isEmpty()
                            ? 0
                            : difference(
                                    libtorch.compute(memory, shape, Engine.Rows.DISTANCES),
                                    onnx.compute(memory, shape, Engine.Rows.DISTANCES)));
        }
    }

    private static double difference(float[][] a, float[][] b) {
        double largest = 0;
        for (int i = 0; i < a.length; i++) {
            for (int k = 0; k < a[i].length; k++) {
                largest = larger(largest, Math.abs((double) a[i][k] - b[i][k]));
            }
        }
        return largest;
    }

    /** Returns the larger of two; a non-finite {@code b} counts as infinite. */
    private static double larger(double a, double b) {
        return Double.isFinite(b) ? Math.max(a, b) : Double.POSITIVE_INFINITY;
    }

    /** Merges two comparisons: sums the crops, takes the maximum of each difference. */
    public EngineDifference and(EngineDifference other) {
        return new EngineDifference(
                crops + other.crops,
                Math.max(scores, other.scores),
                Math.max(largestScore, other.largestScore),
                Math.max(probabilities, other.probabilities),
                Math.max(descriptors, other.descriptors),
                Math.max(distances, other.distances));
    }

    /** Returns whether scores and probabilities are within the tolerance. */
    public boolean holds() {
        return probabilities <= MOST
                && scores <= MOST * Math.max(1, largestScore)
                && distances <= MAX_DISTANCE
                && Double.isFinite(largestScore);
    }

    /** Returns e.g. {@code scores by at most 2.1e-06 (of up to 3.2), probabilities 1.0e-07, descriptors 4.2e-08}. */
    public String text() {
        return String.format(
                Locale.ROOT,
                "scores by at most %.1e (of up to %.1f), probabilities %.1e, descriptors %.1e",
                scores,
                largestScore,
                probabilities,
                descriptors);
    }
}
