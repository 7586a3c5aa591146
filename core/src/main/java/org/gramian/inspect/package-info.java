/**
 * Looks into a trained model: what becomes of its matrices, and which of its feature maps say nothing.
 *
 * <p>From start to end: an {@link org.gramian.inspect.Inspector} shows a model some test images and listens to its pooling, which
 * tells what leaves each stage. Of the matrices after the kernel and after every transform it takes the eigenvalues; a {@link
 * org.gramian.inspect.MatrixStage} says how these, their effective rank and condition {@linkplain org.gramian.inspect.QuantileRange
 * spread} over images. Of the maps before them, {@link org.gramian.inspect.DegenerateChannels} names those that are dead or
 * duplicates. All of it is an {@link org.gramian.inspect.SpdInspection}, which a run keeps as {@code spd.json}.
 */
@NullMarked
package org.gramian.inspect;

import org.jspecify.annotations.NullMarked;
