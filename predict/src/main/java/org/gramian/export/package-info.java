/**
 * ONNX export, and ONNX Runtime as an engine.
 *
 * <p>{@link org.gramian.export.ExportedFile} writes a model and reads the header of an exported file. {@link
 * org.gramian.export.graph} builds the graph from the model's layers. {@link
 * org.gramian.export.OnnxEngine} runs an exported file as an {@link org.gramian.model.Engine}, and {@link
 * org.gramian.export.EngineDifference} measures how much it differs from libtorch. {@link org.gramian.export.OpenModel} opens
 * a model file of either kind and chooses its engine.
 */
@NullMarked
package org.gramian.export;

import org.jspecify.annotations.NullMarked;
