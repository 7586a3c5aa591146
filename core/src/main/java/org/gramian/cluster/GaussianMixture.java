package org.gramian.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.cluster.Gaussians.Moments;
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
 * @param components k
 * @param mostIterations maximum number of iterations
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

    /** Returns a mixture with default limits. */
    public static GaussianMixture of(int components) {
        return new GaussianMixture(components, DEFAULT_ITERATIONS, DEFAULT_TOLERANCE);
    }

    /**
     * Fits the mixture.
     *
     * @param rows {@code [n, d]}
     * @throws IllegalArgumentException if there are fewer distinct rows than components
     */
    public Mixture fit(Tensor rows, RandomGenerator random) {
        try (Scope scope = Scope.open()) {
            ChunkedRows data = ChunkedRows.of("mixture", rows);
            Tensor labels = KMeans.of(components).fit(data.centred(), random).labels();
            Tensor unit = Tensors.identity(components, rows.type(), rows.device());
            double scale = scale(data);
            ChunkedRows scaled = new ChunkedRows(data.mean(), data.centred().mul(1 / scale));
            Gaussians start = Gaussians.of(Moments.ofLabels(scaled, labels, unit), VARIANCE_FLOOR);
            return keep(scope, refine(scaled, start, random), data.mean(), scale);
        }
    }

    /**
     * Returns the largest standard deviation of a column, the unit of the fit, so that the floor is the same number for
     * any data.
     */
    private static double scale(ChunkedRows data) {
        Tensor sums = data.zeros(1, data.width());
        for (Tensor chunk : data.chunks()) {
            try (Scope _ = Scope.open()) {
                sums.copyFrom(sums.add(chunk.mul(chunk).sum(0)));
            }
        }
        double largest = Math.sqrt(sums.largestMagnitude() / data.count());
        return largest > 0 ? largest : 1;
    }

    /** Iterates from an initial mixture, on rows whose largest column variance is 1. */
    Mixture refine(ChunkedRows data, Gaussians start, RandomGenerator random) {
        List<Double> likelihoods = new ArrayList<>();
        List<Integer> reseeded = new ArrayList<>();
        Gaussians current = start;
        Moments moments = Moments.of(data, current);
        likelihoods.add(moments.logLikelihood());
        for (int iteration = 1; iteration <= mostIterations; iteration++) {
            try (Scope scope = Scope.open()) {
                Gaussians next = Gaussians.of(moments, VARIANCE_FLOOR);
                if (next.reseed(moments.masses(), data.count(), random)) {
                    reseeded.add(iteration);
                }
                current = next.keptIn(scope);
                moments = Moments.of(data, current).keptIn(scope);
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

    /** Converts the mixture to the units of the given rows. */
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
}
