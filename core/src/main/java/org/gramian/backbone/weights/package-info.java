/**
 * Pretrained weights: download, import, conversion and storage.
 *
 * <p>Start at {@link org.gramian.backbone.weights.WeightStore}, the folder of imported weights. A {@link
 * org.gramian.backbone.weights.WeightName} such as {@code vgg16} or {@code resnet50-v2} selects {@link
 * org.gramian.backbone.weights.Weights}: tensors under Gramian's names, their preprocessing, and their {@link
 * org.gramian.backbone.weights.Weights.Provenance}, whose fingerprint is used in cache keys.
 *
 * <pre>{@code
 * try (Arena arena = Arena.ofShared()) {
 *     Weights weights = WeightStore.ofProcess().open(WeightName.parse("vgg16"), arena, remarks);
 *     Backbone backbone = Backbone.of("vgg16", "conv5_3");
 *     try (ParameterSet parameters = weights.load(backbone, DType.F32, Device.CPU)) {
 *         ...
 *     }
 * }
 * }</pre>
 *
 * <p>{@link org.gramian.backbone.weights.WeightStore#importFile} imports a local file: {@code format} reads it, {@code
 * WeightConversion} chooses the {@code Naming} of its publisher, converts the layout of each tensor and compares the
 * result with the {@code ExpectedParameters} of the network. {@link org.gramian.backbone.weights.WeightInstaller}
 * downloads a {@link org.gramian.backbone.PublicFile} first. {@link org.gramian.backbone.weights.OnnxWeights} finds the
 * weights of a built-in network in an ONNX file. {@link org.gramian.backbone.weights.Weights#read} reads a file without
 * importing it.
 *
 * <p>A file of the store may also define a network that is not built in; {@link
 * org.gramian.backbone.weights.WeightStore#backbone(String)} finds built-in and installed backbones by name.
 */
@NullMarked
package org.gramian.backbone.weights;

import org.jspecify.annotations.NullMarked;
