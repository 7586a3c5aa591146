/**
 * ONNX files: {@link org.gramian.export.proto.OnnxProto} encodes the messages of a model, {@link
 * org.gramian.export.proto.OnnxScan} reads metadata and operators of a file. No generated code.
 */
@NullMarked
package org.gramian.export.proto;

import org.jspecify.annotations.NullMarked;
