/**
 * Two-dimensional embeddings of descriptors, deterministic and in float64, for about a thousand points: {@link
 * org.gramian.report.embedding.PrincipalComponents} projects to the plane of largest variance, {@link
 * org.gramian.report.embedding.Tsne} preserves neighbourhoods.
 *
 * <pre>{@code
 * double[][] squares = PrincipalComponents.squaredDistances(vectors);
 * double[][] plane = PrincipalComponents.of(squares).points();
 * double[][] map = Tsne.DEFAULT.embed(squares, plane);
 * }</pre>
 */
@NullMarked
package org.gramian.report.embedding;

import org.jspecify.annotations.NullMarked;
