/**
 * Pretrained weights: where they come from, what they are called, where they are kept.
 *
 * <p>Start at {@link org.gramian.backbone.weights.WeightStore}, the folder of weights that are ready for use. A
 * {@link org.gramian.backbone.weights.WeightName} such as {@code vgg16} or {@code vgg16-keras} leads to
 * {@link org.gramian.backbone.weights.Weights}: tensors under this program's names, what they expect of images, and their
 * {@link org.gramian.backbone.weights.Weights.Provenance}, whose fingerprint is good for cache keys.
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
 * <p>Weights enter the store in two ways. {@link org.gramian.backbone.weights.WeightStore#importFile} imports a local file:
 * {@code format} reads it, {@code WeightConversion} chooses the {@code Naming} of its {@code Publisher}, converts the layout
 * of each tensor, and compares the result with the {@link org.gramian.backbone.weights.ExpectedParameters} of the network.
 * {@link org.gramian.backbone.weights.WeightInstaller} gets a {@link org.gramian.backbone.weights.PublicFile} by a
 * {@link org.gramian.backbone.weights.Download} and then does the same. A file that is to stay where it lies is opened by
 * {@link org.gramian.backbone.weights.Weights#read}.
 */
@NullMarked
package org.gramian.backbone.weights;

import org.jspecify.annotations.NullMarked;
