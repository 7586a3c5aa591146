/**
 * Two-dimensional embeddings of descriptors: PCA and t-SNE.
 *
 * <p>{@link org.gramian.report.embedding.PairwiseDistances} are computed once. {@link
 * org.gramian.report.embedding.PrincipalComponents} projects to the plane of largest variance, {@link
 * org.gramian.report.embedding.Tsne} preserves neighbourhoods.
 *
 * <pre>{@code
 * PairwiseDistances distances = PairwiseDistances.of(vectors);
 * double[][] plane = PrincipalComponents.of(distances).points();
 * double[][] map = Tsne.DEFAULT.embed(distances, plane);
 * }</pre>
 *
 * <p>Both are deterministic, run on the CPU in float64 and are meant for about a thousand points.
 */
@NullMarked
package org.gramian.report.embedding;

import org.jspecify.annotations.NullMarked;
