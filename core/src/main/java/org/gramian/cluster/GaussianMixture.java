package org.gramian.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.tensor.Scope;
import org.gramian.tensor.Tensor;
import org.gramian.tensor.Tensors;

/**
 * Gaussian mixture with diagonal covariances, fitted by expectation maximization in the log domain.
 *
 * <p>With {@code ℓ_ik = log w_k + log N(x_i; μ_k, diag σ_k²)} and responsibilities {@code γ_ik = exp(ℓ_ik − log Σ_j exp
 * ℓ_ij)}, an iteration sets {@code w_k = Σ_i γ_ik / n}, {@code μ_k = Σ_i γ_ik x_i / Σ_i γ_ik} and {@code σ_k²} to the
 * variance under the same weights, at least a floor relative to the largest column variance of the data. The clamped
 * variance is optimal under that constraint, so the likelihood never decreases.
 *
 * <p>It is initialized by {@link KMeans}. A component whose mass {@code Σ_i γ_ik} falls below {@value #SMALLEST_SHARE}
 * of n/k restarts from the heaviest: both get half of its weight and its deviations, and means half a deviation to
 * either side of its mean, with random signs per column. The likelihood may decrease then, see {@link
 * Mixture#reseeded}. The fit ends when the mean log-likelihood rises by less than the tolerance, relative to its
 * magnitude, or at the maximum number of iterations.
 *
 * <p>A. Dempster, N. Laird, D. Rubin: Maximum Likelihood from Incomplete Data via the EM Algorithm, Journal of the
 * Royal Statistical Society B 39, 1977.
 *
 * @param tolerance smallest relative rise of the log-likelihood for another iteration
 */
public record GaussianMixture(int components, int mostIterations, double tolerance) {
    /** Lower bound of variances, relative to the largest column variance. */
    public static final double VARIANCE_FLOOR = 1e-4;

    /** Fraction of n/k rows below which a component counts as empty. */
    static final double SMALLEST_SHARE = 1e-2;

    private static final int DEFAULT_ITERATIONS = 50;
    private static final double DEFAULT_TOLERANCE = 1e-5;

    public GaussianMixture {
        if (components < 1 || mostIterations < 1 || !(tolerance >= 0)) {
            throw new IllegalArgumentException(
                    "mixture: expected at least 1 component, 1 iteration and a tolerance of at least" + " 0, found "
                            + components + ", " + mostIterations + " and " + tolerance);
        }
    }

    public static GaussianMixture of(int components) {
        return new GaussianMixture(components, DEFAULT_ITERATIONS, DEFAULT_TOLERANCE);
    }

    /**
     * Fits the mixture: rows {@code [n, d]}.
     *
     * @throws IllegalArgumentException if there are fewer distinct rows than components
     */
    public Mixture fit(Tensor rows, RandomGenerator random) {
        try (Scope scope = Scope.open()) {
            ChunkedRows data = ChunkedRows.of("mixture", rows);
            Tensor labels = KMeans.of(components).fit(data.centred(), random).labels();
            Tensor unit = Tensors.identity(components, rows.type(), rows.device());
            double scale = scale(data);
            ChunkedRows scaled = new ChunkedRows(data.mean(), data.centred().mul(1 / scale));
            Gaussians start = Gaussians.of(Gaussians.Moments.ofLabels(scaled, labels, unit), VARIANCE_FLOOR);
            return keep(scope, refine(scaled, start, random), data.mean(), scale);
        }
    }

    /**
     * Returns the largest standard deviation of a column, the unit of the fit, so that the floor is the same number for
     * any data.
     */
    private static double scale(ChunkedRows data) {
        Tensor sums = data.zeros(1, data.width());
        data.forEach((chunk, _, _) -> sums.copyFrom(sums.add(chunk.mul(chunk).sum(0))));
        double largest = Math.sqrt(sums.largestMagnitude() / data.count());
        return largest > 0 ? largest : 1;
    }

    /** Iterates from an initial mixture, on rows whose largest column variance is 1. */
    Mixture refine(ChunkedRows data, Gaussians start, RandomGenerator random) {
        List<Double> likelihoods = new ArrayList<>();
        List<Integer> reseeded = new ArrayList<>();
        Gaussians current = start;
        Gaussians.Moments moments = Gaussians.Moments.of(data, current);
        likelihoods.add(moments.logLikelihood());
        for (int iteration = 1; iteration <= mostIterations; iteration++) {
            try (Scope scope = Scope.open()) {
                Gaussians next = Gaussians.of(moments, VARIANCE_FLOOR);
                if (next.reseed(moments.masses(), data.count(), random)) {
                    reseeded.add(iteration);
                }
                current = next.keptIn(scope);
                moments = Gaussians.Moments.of(data, current).keptIn(scope);
            }
            likelihoods.add(moments.logLikelihood());
            double rise = moments.logLikelihood() - likelihoods.get(iteration - 1);
            if (!reseeded.contains(iteration) && rise <= tolerance * (1 + Math.abs(moments.logLikelihood()))) {
                break;
            }
        }
        return new Mixture(
                current.weights(), current.means(), current.variances().sqrt(), likelihoods, reseeded);
    }

    private static Mixture keep(Scope scope, Mixture found, Tensor mean, double scale) {
        double shift = found.means().size(1) * Math.log(scale);
        return new Mixture(
                scope.keep(found.weights()),
                scope.keep(found.means().mul(scale).add(mean)),
                scope.keep(found.deviations().mul(scale)),
                found.logLikelihoods().stream()
                        .map(likelihood -> likelihood - shift)
                        .toList(),
                found.reseeded());
    }

    /**
     * Gaussians with diagonal covariances, {@code p(x) = Σ_k w_k N(x; μ_k, diag σ_k²)}, fitted by {@link GaussianMixture}.
     *
     * @param weights {@code w [k]}, with sum 1
     * @param means {@code μ [k, d]}
     * @param deviations {@code σ [k, d]}
     * @param logLikelihoods mean of {@code log p(x)} over the rows before every iteration, and after the last
     * @param reseeded indexes in {@code logLikelihoods} that may be lower than the one before, since an empty component was restarted
     */
    public record Mixture(
            Tensor weights, Tensor means, Tensor deviations, List<Double> logLikelihoods, List<Integer> reseeded) {
        public Mixture {
            logLikelihoods = List.copyOf(logLikelihoods);
            reseeded = List.copyOf(reseeded);
        }
    }

    /** Parameters of a mixture during the fit: {@code w [k]}, {@code μ [k, d]} and {@code σ² [k, d]}. */
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

        /** Restarts nearly empty components in place, each from the heaviest one. */
        boolean reseed(Tensor masses, long rows, RandomGenerator random) {
            double[] weight = masses.toDoubles();
            double smallest = SMALLEST_SHARE * rows / weight.length;
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
                data.forEach((chunk, start, _) -> {
                    Tensor own = labels.slice(0, start, start + chunk.size(0));
                    moments.add(chunk, chunk.mul(chunk), unit.select(0, own));
                });
                return moments;
            }

            /** E step: responsibilities are proportional to the weighted densities. */
            static Moments of(ChunkedRows data, Gaussians mixture) {
                Moments moments = zeros(data, mixture.weights().size(0));
                Terms terms = mixture.terms();
                double[] likelihood = new double[1];
                data.forEach((chunk, _, _) -> {
                    Tensor squares = chunk.mul(chunk);
                    Tensor logs = terms.logDensities(chunk, squares); // [chunk, k]
                    Tensor largest = logs.max(1);
                    Tensor shares = logs.sub(largest).expInPlace();
                    Tensor total = shares.sum(1);
                    likelihood[0] += total.log().add(largest).sum().item();
                    moments.add(chunk, squares, shares.div(total));
                });
                return new Moments(moments.masses, moments.sums, moments.squares, likelihood[0] / data.count());
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
}
