/**
 * From a classifier to a graph of ONNX's standard operators: matrix products, exponentials, what goes element by element, and
 * what only moves numbers.
 *
 * <p>{@link org.gramian.export.graph.ModelGraph} is the way in. It goes through the network ({@code NetworkLowering}), the
 * pooling ({@code PoolingLowering}, and one for each family that it is made of) and the classifier; each writes the formula of
 * its counterpart in {@code org.gramian.backbone}, {@code pooling} and {@code spd} by the operators of an {@code Algebra} into a
 * {@code Graph}. Sizes of images are known, only their number is open, so every size but the first is a constant.
 *
 * <p>All families are sealed and every switch names each member: a method that is added does not compile until it is written
 * here, or refused by a {@link org.gramian.export.graph.NotExpressibleException} that says what to use instead.
 */
@NullMarked
package org.gramian.export.graph;

import org.jspecify.annotations.NullMarked;
