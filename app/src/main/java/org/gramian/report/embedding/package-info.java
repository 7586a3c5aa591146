/**
 * Long vectors as points of a plane, to look at: which images a model finds alike.
 *
 * <p>{@link org.gramian.report.embedding.Distances} are computed once. {@link org.gramian.report.embedding.PrincipalPlane}
 * is the plane that keeps most of the variance: distances in it are true shadows. {@link
 * org.gramian.report.embedding.StochasticNeighbours} (t-SNE) keeps neighbours together and lets go of the rest; within it
 * an {@link org.gramian.report.embedding.Affinities} finds for every point how wide it must look to see so many neighbours.
 *
 * <pre>{@code
 * Distances distances = Distances.of(vectors);
 * double[][] shadow = PrincipalPlane.of(distances).points();
 * double[][] map = StochasticNeighbours.USUAL.embed(distances, shadow);
 * }</pre>
 *
 * <p>Both are deterministic and run on the processor in double precision: at most about a thousand points are meant.
 */
@NullMarked
package org.gramian.report.embedding;

import org.jspecify.annotations.NullMarked;
