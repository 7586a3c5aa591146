/**
 * Backbones: pretrained feature extractors.
 *
 * <p>{@link org.gramian.backbone.Backbones} lists the networks; a {@link org.gramian.backbone.Backbone} is one of them,
 * up to a feature layer. It describes its parameters, the shape of its features and their computation, without weights.
 * {@link org.gramian.backbone.BackboneInfo} names the origin, licence and preprocessing of the weights, and the {@link
 * org.gramian.backbone.PublicFile}s with them. A network that is not built in is defined by the graph of an ONNX file.
 *
 * <pre>{@code
 * Backbone backbone = Backbone.of("googlenet", "inception_4e");
 * Shape shape = backbone.features(224, 224);                                      // [832, 14, 14]
 * try (ParameterSet parameters = ParameterSet.initialize(backbone.parameters(), random, DType.F32, Device.CPU);
 *         Tape tape = Tape.inference()) {
 *     parameters.assign(weights);
 *     Var features = backbone.apply(tape.constant(images), Bindings.of(parameters.variables(tape)));
 * }
 * }</pre>
 *
 * <p>A backbone may have several feature layers, {@code Backbone.of("googlenet", "inception_4d+inception_4e")}, whose
 * maps are concatenated. {@link org.gramian.backbone.ClassifierTail} is the part of the network after the feature layer.
 *
 * <p>Parameters have the names of the published weights: torchvision's for ResNet, Caffe's for VGG, GoogLeNet and
 * SqueezeNet.
 */
@NullMarked
package org.gramian.backbone;

import org.jspecify.annotations.NullMarked;
