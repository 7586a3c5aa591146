package org.gramian.model;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;
import java.util.List;

/**
 * The scores of one image before the softmax, one per class: {@code p_k = exp(z_k / T) / sum_j exp(z_j / T)}.
 *
 * <p>All is computed in log space, so that a probability too small for a double still has its logarithm, and by {@link
 * StrictMath}, so that every machine finds the same numbers. Ties go to the lower class index. That the scores are
 * finite is checked in {@link Prediction}.
 *
 * @since 0.1
 */
public final class Logits {
    private final double[] scores;

    private Logits(double[] scores) {
        this.scores = scores;
    }

    /** Returns logits of scores in the order of the classes. */
    public static Logits of(double... scores) {
        return new Logits(scores.clone());
    }

    /** Returns logits of scores in the order of the classes. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static Logits of(List<Double> scores) {
        return new Logits(scores.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** Returns {@link #meanProbability} of several crops, or the scores of a single crop unchanged. */
    public static Logits ofCrops(float[][] crops) {
        List<Logits> each = Arrays.stream(crops).map(Logits::of).toList();
        return each.size() == 1 ? each.getFirst() : meanProbability(each);
    }

    private static Logits of(float[] scores) {
        double[] wide = new double[scores.length];
        Arrays.setAll(wide, k -> scores[k]);
        return new Logits(wide);
    }

    /**
     * Averages the crops of an image: {@code log(mean_i softmax(z_i))}, computed in log space, so that it stays finite
     * where all probabilities underflow.
     *
     * @param crops at least one, all of the same number of classes
     */
    public static Logits meanProbability(List<Logits> crops) {
        if (crops.isEmpty()
                || crops.stream()
                        .anyMatch(crop -> crop.size() != crops.getFirst().size())) {
            throw new IllegalArgumentException("expected at least one crop, all with the same number of classes, found "
                    + crops.stream().map(Logits::size).toList());
        }
        double[] scores = new double[crops.getFirst().size()];
        double[] terms = new double[crops.size()];
        for (int k = 0; k < scores.length; k++) {
            for (int i = 0; i < terms.length; i++) {
                terms[i] = crops.get(i).logProbability(k, 1);
            }
            scores[k] = logMeanExp(terms);
        }
        return new Logits(scores);
    }

    /** Returns the number of classes. */
    public int size() {
        return scores.length;
    }

    /** Returns the score of a class. */
    public double get(int index) {
        return scores[index];
    }

    /** Returns the class with the highest score, the lowest index at a tie. */
    public int top() {
        int top = 0;
        for (int k = 1; k < scores.length; k++) {
            if (scores[k] > scores[top]) {
                top = k;
            }
        }
        return top;
    }

    /** Returns the number of classes with a higher score, or an equal one and a lower index: 0 for {@link #top}. */
    public int rank(int index) {
        int rank = 0;
        for (int k = 0; k < scores.length; k++) {
            if (scores[k] > scores[index] || (scores[k] == scores[index] && k < index)) {
                rank++;
            }
        }
        return rank;
    }

    /** Returns {@code log p_k}, also where {@code p_k} underflows to 0. */
    public double logProbability(int index, double temperature) {
        double max = scores[top()];
        return (scores[index] - max) / temperature - logTotal(max, temperature);
    }

    /** Returns all {@code p_k}. */
    public double[] probabilities(double temperature) {
        double max = scores[top()];
        double total = logTotal(max, temperature);
        return Arrays.stream(scores)
                .map(score -> StrictMath.exp((score - max) / temperature - total))
                .toArray();
    }

    /** Returns a copy of the scores. */
    @JsonValue
    public double[] toArray() {
        return scores.clone();
    }

    /**
     * {@code log sum_k exp((z_k - max) / T)}, from 0; the 1 of the highest score is left to log1p, which loses
     * nothing.
     */
    private double logTotal(double max, double temperature) {
        int top = top();
        double others = 0;
        for (int k = 0; k < scores.length; k++) {
            others += k == top ? 0 : StrictMath.exp((scores[k] - max) / temperature);
        }
        return StrictMath.log1p(others);
    }

    private static double logMeanExp(double[] terms) {
        double max = Arrays.stream(terms).max().orElseThrow();
        double sum = 0;
        for (double term : terms) {
            sum += StrictMath.exp(term - max);
        }
        return max + StrictMath.log(sum / terms.length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Logits logits && Arrays.equals(scores, logits.scores);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(scores);
    }

    @Override
    public String toString() {
        return Arrays.toString(scores);
    }
}
