/**
 * Explanations of predictions: which regions of an image, and which pairs of feature maps, drive the score of a class.
 *
 * <pre>{@code
 * Explanation why = new Explainer(model, card, Explainer.Settings.DEFAULT).explain(CroppedImage.of(image, card), label);
 * HeatImage.sheet(image, why); // image, heat map, pairs
 * HeatImage.overlay(why.heat()); // transparent overlay
 * }</pre>
 *
 * <p>An {@link org.gramian.explain.Explainer} computes the features of a layer and the gradient of the score with respect to them. An
 * {@link org.gramian.explain.Attribution} turns both into a value for every position, and the maps of all crops become a {@link
 * org.gramian.explain.HeatMap} of the image. For second-order poolings, gradient times kernel matrix entry is the contribution of a
 * pair of feature maps. {@link org.gramian.explain.HeatImage} draws an {@link org.gramian.explain.Explanation}; {@link
 * org.gramian.explain.Faithfulness} is the deletion test of a heat map.
 */
@NullMarked
package org.gramian.explain;

import org.jspecify.annotations.NullMarked;
