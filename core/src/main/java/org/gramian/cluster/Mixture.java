package org.gramian.cluster;

import java.util.List;
import org.gramian.tensor.Tensor;

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
