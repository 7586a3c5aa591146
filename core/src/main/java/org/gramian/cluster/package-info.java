/**
 * Clustering of rows {@code [n, d]}, for vocabularies of local features.
 *
 * <p>{@link org.gramian.cluster.KMeans} computes centres, {@link org.gramian.cluster.GaussianMixture} fits Gaussians with diagonal
 * covariances by expectation maximization, initialized by k-means. Both run on any device in float32 or float64, by matrix
 * products over chunks of rows:
 *
 * <pre>{@code
 * KMeans.Clusters words = KMeans.of(64).fit(rows, random);
 * GaussianMixture.Mixture mixture = GaussianMixture.of(64).fit(rows, random);
 * }</pre>
 *
 * <p>Results belong to the scope around the call.
 */
@NullMarked
package org.gramian.cluster;

import org.jspecify.annotations.NullMarked;
