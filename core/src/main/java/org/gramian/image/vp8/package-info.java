/**
 * A decoder of VP8 key frames, the content of a lossy WebP.
 *
 * <pre>{@code
 * Vp8Decoder.Frame frame = Vp8Decoder.decode(file, from, to);   // the content of a chunk "VP8 "
 * use(frame.width(), frame.height(), frame.rgb());
 * }</pre>
 *
 * <p>{@link org.gramian.image.vp8.Vp8Decoder} follows the order of RFC 6386: {@code FrameHeader}, then for each {@code
 * Macroblock} its prediction modes, its coefficients ({@code Residuals}) and its samples ({@code Reconstruction}, which uses
 * {@code IntraPrediction}), then {@code LoopFilter} over the whole frame and {@code YuvToRgb}.
 */
@NullMarked
package org.gramian.image.vp8;

import org.jspecify.annotations.NullMarked;
