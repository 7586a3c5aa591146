/**
 * Inspection of a trained model: the spectra of its matrices, and its dead and duplicate channels.
 *
 * <p>An {@link org.gramian.inspect.Inspector} runs a model on test images and traces the stages of its pooling. A {@link
 * org.gramian.inspect.MatrixStage} holds {@linkplain org.gramian.inspect.MatrixStage.QuantileRange quantiles} over images of the
 * eigenvalues, effective rank and condition number after the kernel and after every transform. {@link
 * org.gramian.inspect.DegenerateChannels} lists dead and duplicate feature maps. The result is an {@link
 * org.gramian.inspect.SpdInspection}, which a run stores as {@code spd.json}.
 */
@NullMarked
package org.gramian.inspect;

import org.jspecify.annotations.NullMarked;
