/**
 * Opens a model file of either kind with the engine that runs it.
 *
 * <p>The package stands between {@link org.gramian.export}, which writes ONNX files and runs them in ONNX Runtime, and the
 * commands and the server, which take a model without knowing its engine: {@link org.gramian.inference.OpenModel} chooses
 * libtorch or ONNX Runtime and returns a {@link org.gramian.model.Classifier}. It is no part of the export, which needs no
 * libtorch engine, and no part of the core, which does not know ONNX Runtime.
 */
@NullMarked
package org.gramian.inference;

import org.jspecify.annotations.NullMarked;
