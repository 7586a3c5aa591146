/**
 * Why a model decides as it does: which regions of an image, and which pairs of feature maps, drive the score of a class.
 *
 * <pre>{@code
 * Explanation why = Explainer.of(model, card).explain(image, label);
 * HeatImage.sheet(image, why); // the image, the heat over it, the pairs
 * HeatImage.overlay(why.heat()); // the heat alone, to be laid over the image
 * }</pre>
 *
 * <p>An {@link org.gramian.explain.Explainer} takes the model's test crops of an image through the backbone to a layer, and the
 * score of the class from there on with a tape: classifier, vectorization, SPD layers and kernel are differentiated by
 * their closed forms. An {@link org.gramian.explain.Attribution} turns features and gradients into a number for every position,
 * and these are put back to where the crops lie: a {@link org.gramian.explain.HeatMap}. Where the pooling has a kernel
 * matrix, gradient times entry is the contribution of every pair of feature maps and of every place in it, {@link
 * org.gramian.explain.Explanation.ChannelPair}. Both together are an {@link org.gramian.explain.Explanation}, which {@link org.gramian.explain.HeatImage} draws.
 *
 * <p>The faithfulness of a map can be tested: {@link org.gramian.explain.Faithfulness} takes its hottest part out of the
 * image, and regions of the same size and shape elsewhere, and compares what becomes of the score.
 */
@NullMarked
package org.gramian.explain;

import org.jspecify.annotations.NullMarked;
