/**
 * The messages of ONNX that a classifier needs, written and checked by hand: no generated code.
 *
 * <p>A {@link org.gramian.export.proto.ModelProto} is a {@link org.gramian.export.proto.GraphProto} with metadata; a graph is a
 * list of {@linkplain org.gramian.export.proto.NodeProto operators} with their {@linkplain org.gramian.export.proto.AttributeProto
 * attributes}, of {@linkplain org.gramian.export.proto.TensorProto constants}, and of {@linkplain
 * org.gramian.export.proto.ValueInfoProto inputs and outputs}. Each is a record that knows its fields' published numbers and
 * becomes a {@link org.gramian.export.proto.Message}, which knows how protocol buffers lay fields out.
 *
 * <p>The way back is {@link org.gramian.export.proto.OnnxScan}: it goes over a file without holding it, and finds metadata,
 * operators and anything that a file of ours never has.
 */
@NullMarked
package org.gramian.export.proto;

import org.jspecify.annotations.NullMarked;
