package org.gramian.train.loop;

import java.util.Arrays;
import org.gramian.tensor.DType;
import org.gramian.tensor.Device;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.train.recipe.Recipe;
import org.gramian.train.recipe.Recipe.Loss.ClassWeights;

/**
 * Targets of the cross-entropy: a row {@code q [k]} for each label, by a {@link Recipe.Loss}.
 *
 * <p>Label smoothing gives the true class {@code 1 − ε + ε/k} and every other {@code ε/k}. With balanced classes the row
 * of class c is multiplied by {@code n / (k·n_c)}, where n_c of the n training images are of class c: then every class
 * has the same share of the loss, and the mean weight of a training image is 1, so that learning rates keep their meaning.
 */
public final class Targets {
    private final double smoothing;
    private final double[] weights;

    private Targets(double smoothing, double[] weights) {
        this.smoothing = smoothing;
        this.weights = weights;
    }

    /** Returns the targets for a training set. */
    public static Targets of(Recipe.Loss recipe, long[] counts) {
        double[] weights = new double[counts.length];
        Arrays.fill(weights, 1);
        if (recipe.weights() == ClassWeights.BALANCED) {
            double all = Arrays.stream(counts).sum();
            for (int c = 0; c < counts.length; c++) {
                if (counts[c] < 1) {
                    throw new IllegalArgumentException("balanced class weights need a training image of every class,"
                            + " found " + counts[c] + " of class " + c
                            + "; add images of it, remove the class, or train without class weights");
                }
                weights[c] = all / (counts.length * (double) counts[c]);
            }
        }
        return new Targets(recipe.smoothing(), weights);
    }

    public int classes() {
        return weights.length;
    }

    /** Returns the weight of a class in the loss, the sum of its row. */
    public double weight(int label) {
        return weights[label];
    }

    /** Returns rows {@code [n, k]}, float32, for n labels. */
    public Tensor rows(int[] labels, Device device) {
        int classes = classes();
        double[] rows = new double[Math.multiplyExact(labels.length, classes)];
        for (int i = 0; i < labels.length; i++) {
            double weight = weight(labels[i]);
            Arrays.fill(rows, i * classes, (i + 1) * classes, weight * smoothing / classes);
            rows[i * classes + labels[i]] += weight * (1 - smoothing);
        }
        try (Scope scope = Scope.open()) {
            return scope.keep(Tensors.of(rows, Shape.of(labels.length, classes), DType.F32)
                    .to(device));
        }
    }
}
