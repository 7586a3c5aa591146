/**
 * Groups of rows: what a vocabulary of local features is made of.
 *
 * <p>{@link org.gramian.cluster.KMeans} finds centres, {@link org.gramian.cluster.GaussianMixture} fits Gaussians with
 * diagonal covariances by expectation and maximization, beginning with those centres. Both take rows {@code [n, d]} of any
 * device in single or double precision, work by matrix products over chunks of rows, so that nothing larger than {@code
 * [chunk, k]} or {@code [k, d]} is made besides a copy of the rows, and draw from the generator they are given:
 *
 * <pre>{@code
 * Clusters words = KMeans.of(64).fit(rows, random);
 * Mixture mixture = GaussianMixture.of(64).fit(rows, random);
 * }</pre>
 *
 * <p>What they return belongs to the scope around the call.
 */
@NullMarked
package org.gramian.cluster;

import org.jspecify.annotations.NullMarked;
