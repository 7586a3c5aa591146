/**
 * Layers of the built-in networks.
 *
 * <p>A network is a list of {@link org.gramian.backbone.network.NetworkLayer}s: convolutions ({@link
 * org.gramian.backbone.network.Conv}), the layers nested in the interface, the blocks of a {@link
 * org.gramian.backbone.network.VisionTransformer} and of {@link org.gramian.backbone.network.ConvNext}, a fixed {@link
 * org.gramian.backbone.network.FilterBank}, or a part of an ONNX graph ({@link org.gramian.backbone.network.OnnxStage}).
 * {@link org.gramian.backbone.network.Architectures} has the layers of each network. Parameters have the names of the
 * published weights: torchvision's for ResNet, Caffe's for VGG, GoogLeNet and SqueezeNet.
 */
@NullMarked
package org.gramian.backbone.network;

import org.jspecify.annotations.NullMarked;
