package org.gramian.cluster;

import java.util.random.RandomGenerator;
import org.gramian.tensor.Elementwise;
import org.gramian.tensor.Products;
import org.gramian.tensor.Reductions;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;
import org.gramian.tensor.Views;

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
        Tensor masses = Elementwise.atLeast(moments.masses(), SMALLEST_MASS);
        Tensor total = Reductions.sum(masses);
        Tensor means = Elementwise.div(moments.sums(), masses);
        Tensor squares = Elementwise.div(moments.squares(), masses);
        Tensor variances = Elementwise.atLeast(Elementwise.sub(squares, Elementwise.mul(means, means)), floor);
        Tensor weights = Views.reshape(Elementwise.div(masses, total), masses.size(0));
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
            Tensor quadratic = Products.matmul(squares, square);
            return Elementwise.add(Elementwise.add(quadratic, Products.matmul(rows, linear)), constant);
        }
    }

    Terms terms() {
        Tensor precision = Elementwise.reciprocal(variances);
        Tensor linear = Elementwise.mul(means, precision);
        Tensor logs = Elementwise.log(Elementwise.mul(variances, 2 * Math.PI));
        Tensor halves = Elementwise.mul(
                Reductions.sum(Elementwise.add(logs, Elementwise.mul(means, linear)), 1), -0.5); // [k, 1]
        Tensor constant = Elementwise.add(Views.reshape(halves, 1, weights.size(0)), Elementwise.log(weights));
        return new Terms(Views.transpose(Elementwise.mul(precision, -0.5)), Views.transpose(linear), constant);
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
            weights.copyFrom(Elementwise.div(changed, Reductions.sum(changed)));
        }
        return any;
    }

    private void split(int heaviest, int empty, RandomGenerator random) {
        try (Scope _ = Scope.open()) {
            Tensor variance = row(variances, heaviest);
            Tensor gaussian = Tensors.gaussian(random, variance.shape(), variance.type());
            Tensor signs = Tensors.to(Elementwise.sign(gaussian), variance.device());
            Tensor step = Elementwise.mul(Elementwise.mul(Elementwise.sqrt(variance), signs), 0.5);
            Tensor mean = Tensors.copy(row(means, heaviest));
            row(means, empty).copyFrom(Elementwise.add(mean, step));
            row(means, heaviest).copyFrom(Elementwise.sub(mean, step));
            row(variances, empty).copyFrom(variance);
        }
    }

    private static Tensor row(Tensor matrix, int k) {
        return Views.slice(matrix, 0, k, k + 1L);
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
                    Tensor own = Views.slice(labels, 0, start, start + chunk.size(0));
                    moments.add(chunk, Elementwise.mul(chunk, chunk), Views.select(unit, 0, own));
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
                    Tensor squares = Elementwise.mul(chunk, chunk);
                    Tensor logs = terms.logDensities(chunk, squares); // [chunk, k]
                    Tensor largest = Reductions.max(logs, 1);
                    Tensor shares = Elementwise.expInPlace(Elementwise.sub(logs, largest));
                    Tensor total = Reductions.sum(shares, 1);
                    likelihood += Reductions.sum(Elementwise.add(Elementwise.log(total), largest))
                            .item();
                    moments.add(chunk, squares, Elementwise.div(shares, total));
                }
            }
            return new Moments(moments.masses, moments.sums, moments.squares, likelihood / data.count());
        }

        private void add(Tensor rows, Tensor squared, Tensor responsibilities) {
            Tensor turned = Views.transpose(responsibilities);
            masses.copyFrom(Elementwise.add(masses, Views.transpose(Reductions.sum(responsibilities, 0))));
            sums.copyFrom(Elementwise.add(sums, Products.matmul(turned, rows)));
            squares.copyFrom(Elementwise.add(squares, Products.matmul(turned, squared)));
        }

        Moments keptIn(Scope scope) {
            scope.keep(masses);
            scope.keep(sums);
            scope.keep(squares);
            return this;
        }
    }
}
