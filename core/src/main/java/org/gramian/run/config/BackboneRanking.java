package org.gramian.run.config;

import java.util.List;
import org.gramian.backbone.weights.PublicFile;

/**
 * Chooses the backbone among those with installed weights.
 *
 * <p>They are ranked by their published accuracy on ImageNet, from 80 % for EfficientNet-Lite4 to 58 % for SqueezeNet. On FMD,
 * with the paper's head on frozen features, EfficientNet-Lite4 reached 86 % and GoogLeNet 75 %.
 */
public final class BackboneRanking {
    static final List<String> BEST_FIRST =
            List.of("efficientnet-lite4", "resnet50", "vgg19", "vgg16", "resnet18", "googlenet", "squeezenet");

    /** The backbone that needs no weights. */
    static final String WITHOUT_WEIGHTS = "filters";

    private BackboneRanking() {}

    /** Returns the weights of the best backbone that can be downloaded. */
    public static PublicFile download() {
        return BEST_FIRST.stream()
                .flatMap(name -> PublicFile.of(name).stream())
                .findFirst()
                .orElseThrow();
    }

    /** Fills an unset backbone by rank. */
    static Settings choose(Settings settings, DefaultsContext context) {
        if (settings.has(Keys.BACKBONE)) {
            return settings;
        }
        List<String> present = BEST_FIRST.stream()
                .filter(name -> context.weightsOf(name).isPresent())
                .toList();
        return present.isEmpty()
                ? settings.orElse(
                        Keys.BACKBONE,
                        WITHOUT_WEIGHTS,
                        "no pretrained weights are installed; get some with: gramian weights get NAME")
                : settings.orElse(
                        Keys.BACKBONE,
                        present.getFirst(),
                        "the best with installed weights (" + String.join(", ", present) + ")");
    }
}
