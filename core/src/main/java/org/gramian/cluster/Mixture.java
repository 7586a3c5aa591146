package org.gramian.cluster;

import java.util.List;
import org.gramian.tensor.Tensor;

/**
 * Gaussians with diagonal covariances, {@code p(x) = Σ_k w_k N(x; μ_k, diag σ_k²)}, as {@link GaussianMixture} found them.
 *
 * @param weights {@code w [k]}, with sum 1
 * @param means {@code μ [k, d]}
 * @param deviations {@code σ [k, d]}
 * @param logLikelihoods the mean of {@code log p(x)} over the rows at the beginning of every iteration, and of what was
 *     found as the last
 * @param reseeded the places in {@code logLikelihoods} that may lie below the one before, since a component without rows was
 *     begun again in between
 */
public record Mixture(
        Tensor weights, Tensor means, Tensor deviations, List<Double> logLikelihoods, List<Integer> reseeded) {
    public Mixture {
        logLikelihoods = List.copyOf(logLikelihoods);
        reseeded = List.copyOf(reseeded);
    }
}
