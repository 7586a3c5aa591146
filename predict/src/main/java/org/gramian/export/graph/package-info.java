/**
 * Builds the ONNX graph of a classifier from standard operators.
 *
 * <p>{@link org.gramian.export.graph.ModelGraph} is the entry point: it lowers the backbone ({@code NetworkLowering}), the pooling
 * ({@code PoolingLowering}, {@code MatrixLowering}) and the classifier, with the
 * operators of {@code Value}; the nodes of an imported network are copied ({@code ImportedNodes}). Only the number of images is dynamic. A method without an ONNX formula is
 * refused with a {@link org.gramian.export.graph.NotExpressibleException}.
 */
@NullMarked
package org.gramian.export.graph;

import org.jspecify.annotations.NullMarked;
