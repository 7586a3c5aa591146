package org.gramian.run.config;

import java.util.List;
import org.gramian.backbone.weights.BundledWeights;

/**
 * Chooses the backbone among those with installed weights and {@link BundledWeights#NAME}.
 *
 * <p>They are ranked by their published accuracy on ImageNet, from 85 % for DINOv2 ViT-B/14 (linear evaluation) to 58 %
 * for SqueezeNet; {@link BundledWeights#NAME}, which has no such figure, was better than SqueezeNet on dtd10, FMD and
 * cars39. On FMD, with the paper's head on frozen features, EfficientNet-Lite4 reached 86 % and GoogLeNet 75 %.
 */
final class BackboneRanking {
    static final List<String> BEST_FIRST = List.of(
            "dinov2-vitb14-reg",
            "dinov2-vitb14",
            "efficientnet_v2_s",
            "convnext_base",
            "convnext_small",
            "convnext_tiny",
            "efficientnet-lite4",
            "vit-s16",
            "vit-b16",
            "dinov2-vits14",
            "dinov2-vits14-reg",
            "resnet50",
            "resnet50-v1",
            "mobilenet_v3_large",
            "vgg19",
            "vgg16",
            "resnet18",
            "googlenet",
            BundledWeights.NAME,
            "squeezenet");

    /** The backbone that needs no weights: the default of a build without bundled weights. */
    static final String WITHOUT_WEIGHTS = "filters";

    /** The rule of the choice, for options and docs. */
    static final String RULE = "the best of those with installed weights and " + BundledWeights.NAME;

    private BackboneRanking() {}
}
