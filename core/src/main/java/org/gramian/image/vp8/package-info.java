/**
 * VP8 key frames: the data of a lossy WebP becomes RGB bytes, the same as the reference library makes.
 *
 * <pre>{@code
 * Frame frame = Vp8.decode(file, from, to);   // the content of a chunk "VP8 "
 * use(frame.width(), frame.height(), frame.rgb());
 * }</pre>
 *
 * <p>{@link org.gramian.image.vp8.Vp8} goes through a frame in the order of RFC 6386. {@code FrameTag} has the size. {@code
 * FrameHeader}, read bit by bit with {@code BoolReader}, has the {@code Segments}, the {@code FilterSettings}, the {@code
 * Quantizer}s and the probabilities. Then macroblock follows macroblock: {@code ModeReader} reads how it is predicted, {@code
 * Residuals} reads with {@code TokenReader} what is added, {@code Reconstruction} does both by {@code Prediction}, {@code
 * BlockPrediction} and {@code Transforms}. When all are there {@code LoopFilter} smooths the edges between them with {@code
 * EdgeFilter}, and {@code Colours} makes RGB of the three {@code Plane}s.
 */
@NullMarked
package org.gramian.image.vp8;

import org.jspecify.annotations.NullMarked;
