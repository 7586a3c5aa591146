/**
 * Networks read from ONNX files.
 *
 * <p>{@link org.gramian.backbone.onnx.OnnxFile} reads a file into an {@link org.gramian.backbone.onnx.OnnxGraph}, the
 * operators without the weights, and the weights by name. The graph is fused and cut into
 * segments, and each segment is planned for a size of its input: shapes and constants are
 * computed once, and what remains are functions on the tape.
 */
@NullMarked
package org.gramian.backbone.onnx;

import org.jspecify.annotations.NullMarked;
