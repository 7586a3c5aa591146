package org.gramian.cluster;

import java.util.random.RandomGenerator;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Parameters of a mixture during the fit.
 *
 * @param weights {@code w [k]}
 * @param means {@code μ [k, d]}
 * @param variances {@code σ² [k, d]}
 */
record Gaussians(Tensor weights, Tensor means, Tensor variances) {
    /** Avoids a division by 0; components of such a mass are reseeded. */
    private static final double SMALLEST_MASS = 1e-30;

    /** M step: the mixture of maximum likelihood for given responsibilities. */
    static Gaussians of(Moments moments, double floor) {
        Tensor masses = moments.masses().atLeast(SMALLEST_MASS);
        Tensor total = masses.sum();
        Tensor means = moments.sums().div(masses);
        Tensor squares = moments.squares().div(masses);
        Tensor variances = squares.sub(means.mul(means)).atLeast(floor);
        Tensor weights = masses.div(total).reshape(masses.size(0));
        return new Gaussians(weights, means, variances);
    }

    /**
     * Coefficients of the log-densities: {@code ℓ_k(x) = constant_k + ⟨x, linear_k⟩ + ⟨x², square_k⟩}.
     *
     * @param square {@code −1/(2σ²)}, {@code [d, k]}
     * @param linear {@code μ/σ²}, {@code [d, k]}
     * @param constant {@code log w − ½ Σ (log 2πσ² + μ²/σ²)}, {@code [1, k]}
     */
    record Terms(Tensor square, Tensor linear, Tensor constant) {
        /** {@code log w_k + log N(x; μ_k, σ_k²)} of rows, {@code [n, k]}. */
        Tensor logDensities(Tensor rows, Tensor squares) {
            Tensor quadratic = squares.matmul(square);
            return quadratic.add(rows.matmul(linear)).add(constant);
        }
    }

    Terms terms() {
        Tensor precision = variances.reciprocal();
        Tensor linear = means.mul(precision);
        Tensor logs = variances.mul(2 * Math.PI).log();
        Tensor halves = logs.add(means.mul(linear)).sum(1).mul(-0.5); // [k, 1]
        Tensor constant = halves.reshape(1, weights.size(0)).add(weights.log());
        return new Terms(precision.mul(-0.5).transpose(), linear.transpose(), constant);
    }

    /**
     * Restarts nearly empty components in place, each from the heaviest one.
     *
     * @return whether there were any
     */
    boolean reseed(Tensor masses, long rows, RandomGenerator random) {
        double[] weight = masses.toDoubles();
        double smallest = GaussianMixture.SMALLEST_SHARE * rows / weight.length;
        boolean any = false;
        for (int k = 0; k < weight.length; k++) {
            if (weight[k] < smallest) {
                int heaviest = 0;
                for (int j = 1; j < weight.length; j++) {
                    heaviest = weight[j] > weight[heaviest] ? j : heaviest;
                }
                weight[heaviest] /= 2;
                weight[k] = weight[heaviest];
                split(heaviest, k, random);
                any = true;
            }
        }
        if (any) {
            Tensor changed = Tensors.of(weight, weights.shape(), weights.type());
            weights.copyFrom(changed.div(changed.sum()));
        }
        return any;
    }

    private void split(int heaviest, int empty, RandomGenerator random) {
        try (Scope _ = Scope.open()) {
            Tensor variance = row(variances, heaviest);
            Tensor gaussian = Tensors.gaussian(random, variance.shape(), variance.type());
            Tensor signs = gaussian.sign().to(variance.device());
            Tensor step = variance.sqrt().mul(signs).mul(0.5);
            Tensor mean = row(means, heaviest).copy();
            row(means, empty).copyFrom(mean.add(step));
            row(means, heaviest).copyFrom(mean.sub(step));
            row(variances, empty).copyFrom(variance);
        }
    }

    private static Tensor row(Tensor matrix, int k) {
        return matrix.slice(0, k, k + 1L);
    }

    Gaussians keptIn(Scope scope) {
        scope.keep(weights);
        scope.keep(means);
        scope.keep(variances);
        return this;
    }

    /**
     * Sufficient statistics of the rows under the responsibilities {@code γ}.
     *
     * @param masses {@code Σ_i γ_ik}, {@code [k, 1]}
     * @param sums {@code Σ_i γ_ik x_i}, {@code [k, d]}
     * @param squares {@code Σ_i γ_ik x_i²}, {@code [k, d]}
     * @param logLikelihood the mean of {@code log p(x_i)} over rows
     */
    record Moments(Tensor masses, Tensor sums, Tensor squares, double logLikelihood) {
        private static Moments zeros(ChunkedRows data, long components) {
            return new Moments(
                    data.zeros(components, 1),
                    data.zeros(components, data.width()),
                    data.zeros(components, data.width()),
                    Double.NaN);
        }

        /** Hard assignment: every row belongs to the component of its label. */
        static Moments ofLabels(ChunkedRows data, Tensor labels, Tensor unit) {
            Moments moments = zeros(data, unit.size(0));
            long start = 0;
            for (Tensor chunk : data.chunks()) {
                try (Scope _ = Scope.open()) {
                    Tensor own = labels.slice(0, start, start + chunk.size(0));
                    moments.add(chunk, chunk.mul(chunk), unit.select(0, own));
                    start += chunk.size(0);
                }
            }
            return moments;
        }

        /** E step: responsibilities are proportional to the weighted densities. */
        static Moments of(ChunkedRows data, Gaussians mixture) {
            Moments moments = zeros(data, mixture.weights().size(0));
            Gaussians.Terms terms = mixture.terms();
            double likelihood = 0;
            for (Tensor chunk : data.chunks()) {
                try (Scope _ = Scope.open()) {
                    Tensor squares = chunk.mul(chunk);
                    Tensor logs = terms.logDensities(chunk, squares); // [chunk, k]
                    Tensor largest = logs.max(1);
                    Tensor shares = logs.sub(largest).expInPlace();
                    Tensor total = shares.sum(1);
                    likelihood += total.log().add(largest).sum().item();
                    moments.add(chunk, squares, shares.div(total));
                }
            }
            return new Moments(moments.masses, moments.sums, moments.squares, likelihood / data.count());
        }

        private void add(Tensor rows, Tensor squared, Tensor responsibilities) {
            Tensor turned = responsibilities.transpose();
            masses.copyFrom(masses.add(responsibilities.sum(0).transpose()));
            sums.copyFrom(sums.add(turned.matmul(rows)));
            squares.copyFrom(squares.add(turned.matmul(squared)));
        }

        Moments keptIn(Scope scope) {
            scope.keep(masses);
            scope.keep(sums);
            scope.keep(squares);
            return this;
        }
    }
}
