package org.gramian.linear;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * A scale and an offset for the score of each class, which calibrate probabilities where classes differ in spread (vector
 * scaling; Guo et al., On Calibration of Modern Neural Networks, ICML 2017):
 *
 * <pre>{@code
 * s_k = a_k (z_k − mean_j z_j) + c_k
 * min_{a,c}  −Σ_i w_i log softmax(s_i)_{y_i} + λ/2 (‖a − 1‖² + ‖c‖²),   λ = 4
 * }</pre>
 *
 * <p>The loss is strictly convex; Newton's method solves each step by conjugate gradients, preconditioned by the diagonal.
 * Without the mean, which softmax does not see, a common shift of new scores would change the probabilities.
 *
 * @param scale a {@code [k]}
 * @param offset c {@code [k]}
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ClassScaling(double[] scale, double[] offset) {
    /** Weight λ of the prior: a deviates from 1 and c from 0 by 0.5 (one standard deviation). */
    private static final double PRIOR = 4;

    private static final int MAX_STEPS = 50;

    /** Largest gradient at the minimum, per row. */
    private static final double TOLERANCE = 1e-7;

    /**
     * Fits to n rows of k scores.
     *
     * @param scores about the scale of logarithms of probabilities
     * @param labels class of each row
     * @param weights of each row
     */
    static ClassScaling fit(double[][] scores, int[] labels, double[] weights) {
        double[][] centred = Arrays.stream(scores).map(ClassScaling::centred).toArray(double[][]::new);
        Loss loss = new Loss(centred, labels, weights);
        int k = scores[0].length;
        double[] start = new double[2 * k];
        Arrays.fill(start, 0, k, 1);
        At at = loss.at(start);
        for (int step = 0;
                step < MAX_STEPS && Math.sqrt(dot(at.gradient, at.gradient)) > TOLERANCE * labels.length;
                step++) {
            double[] direction = loss.newton(at);
            double slope = dot(at.gradient, direction);
            double length = 1;
            At next = loss.at(sum(at.point, length, direction));
            while (!(next.value <= at.value + 1e-4 * length * slope) && length > 1e-6) {
                length /= 2;
                next = loss.at(sum(at.point, length, direction));
            }
            if (!(next.value < at.value)) {
                break; // at the minimum up to rounding
            }
            at = next;
        }
        return new ClassScaling(Arrays.copyOf(at.point, k), Arrays.copyOfRange(at.point, k, 2 * k));
    }

    private static double[] centred(double[] row) {
        double mean = Arrays.stream(row).average().orElse(0);
        return Arrays.stream(row).map(z -> z - mean).toArray();
    }

    double[] apply(double[] row) {
        double[] scaled = centred(row);
        Arrays.setAll(scaled, k -> scale[k] * scaled[k] + offset[k]);
        return scaled;
    }

    /** Returns the model of the scaled scores, which are linear too. */
    LinearModel apply(LinearModel model) {
        Shape column = Shape.of(scale.length, 1);
        Tensor scales = tensor(scale, column, model);
        Tensor weight = model.weight()
                .sub(model.weight().sum(0).mul(1.0 / scale.length))
                .mul(scales);
        double[] bias = apply(model.bias().toDoubles());
        return new LinearModel(
                weight, tensor(bias, Shape.of(bias.length), model), model.found(), model.crossValidation());
    }

    private static Tensor tensor(double[] values, Shape shape, LinearModel model) {
        return Tensors.of(values, shape, DType.F32).to(model.weight().device());
    }

    private static double dot(double[] one, double[] other) {
        double sum = 0;
        for (int i = 0; i < one.length; i++) {
            sum += one[i] * other[i];
        }
        return sum;
    }

    private static double[] sum(double[] one, double factor, double[] other) {
        return IntStream.range(0, one.length)
                .mapToDouble(i -> one[i] + factor * other[i])
                .toArray();
    }

    /**
     * The loss at one point.
     *
     * @param point a and c {@code [2k]}
     * @param probabilities {@code [n][k]}
     */
    private record At(double[] point, double value, double[] gradient, double[][] probabilities) {}

    private record Loss(double[][] scores, int[] labels, double[] weights) {
        At at(double[] point) {
            int k = scores[0].length;
            double value = 0;
            double[] gradient = new double[2 * k];
            for (int j = 0; j < 2 * k; j++) {
                double far = point[j] - (j < k ? 1 : 0);
                value += PRIOR / 2 * far * far;
                gradient[j] = PRIOR * far;
            }
            double[][] probabilities = new double[labels.length][k];
            for (int i = 0; i < labels.length; i++) {
                double[] z = scores[i];
                double[] p = probabilities[i];
                Arrays.setAll(p, j -> point[j] * z[j] + point[k + j]);
                double truth = p[labels[i]];
                double max = Arrays.stream(p).max().orElseThrow();
                Arrays.setAll(p, j -> StrictMath.exp(p[j] - max));
                double total = Arrays.stream(p).sum();
                double weight = weights[i];
                value += weight * (StrictMath.log(total) + max - truth);
                int label = labels[i];
                Arrays.setAll(p, j -> p[j] / total);
                addTo(gradient, z, j -> weight * (p[j] - (j == label ? 1 : 0)));
            }
            return new At(point, value, gradient, probabilities);
        }

        /** Adds {@code (r z, r)} of a row. */
        private static void addTo(double[] sum, double[] z, IntToDoubleFunction residual) {
            for (int j = 0; j < z.length; j++) {
                double r = residual.applyAsDouble(j);
                sum[j] += r * z[j];
                sum[z.length + j] += r;
            }
        }

        /** Returns Newton's step {@code −H⁻¹ g} to a tenth of the gradient: the steps still converge, and most need few products. */
        double[] newton(At at) {
            double[] diagonal = new double[at.point.length];
            Arrays.fill(diagonal, PRIOR);
            for (int i = 0; i < labels.length; i++) {
                double weight = weights[i];
                double[] p = at.probabilities[i];
                double[] z = scores[i];
                for (int j = 0; j < p.length; j++) {
                    double variance = weight * p[j] * (1 - p[j]);
                    diagonal[j] += variance * z[j] * z[j];
                    diagonal[p.length + j] += variance;
                }
            }
            double[] step = new double[diagonal.length];
            double[] residual = sum(step, -1, at.gradient);
            double enough = 0.01 * dot(residual, residual);
            double[] direction = step;
            double before = 1;
            for (int i = 0; i < diagonal.length && dot(residual, residual) > enough; i++) {
                double[] scaled = residual.clone();
                Arrays.setAll(scaled, j -> scaled[j] / diagonal[j]);
                double along = dot(residual, scaled);
                direction = sum(scaled, i == 0 ? 0 : along / before, direction);
                double[] product = hessian(at, direction);
                double length = along / dot(direction, product);
                step = sum(step, length, direction);
                residual = sum(residual, -length, product);
                before = along;
            }
            return step;
        }

        /** Returns {@code H (u, v)}: of each row {@code w p_k (d_k − Σ_j p_j d_j) (z_k, 1)}, {@code d = u z + v}. */
        private double[] hessian(At at, double[] vector) {
            double[] product = sum(new double[vector.length], PRIOR, vector);
            double[] d = new double[scores[0].length];
            for (int i = 0; i < labels.length; i++) {
                double[] z = scores[i];
                double[] p = at.probabilities[i];
                Arrays.setAll(d, j -> vector[j] * z[j] + vector[d.length + j]);
                double mean = dot(p, d);
                double weight = weights[i];
                addTo(product, z, j -> weight * p[j] * (d[j] - mean));
            }
            return product;
        }
    }
}
