/**
 * Models for other runtimes: a trained classifier as an ONNX file, and ONNX Runtime as an engine of this program.
 *
 * <p>{@link org.gramian.export.OnnxFile} writes a model and reads what a file says of itself. What is computed is built in
 * {@link org.gramian.export.graph}, part by part from the model's own sealed families, and laid out as bytes by {@link
 * org.gramian.export.proto}. {@link org.gramian.export.OnnxEngine} runs such a file behind the same interface as libtorch, and
 * {@link org.gramian.export.Agreement} says how much the two differ. Whoever takes either kind of file, opens an {@link
 * org.gramian.export.OpenModel}.
 */
@NullMarked
package org.gramian.export;

import org.jspecify.annotations.NullMarked;
