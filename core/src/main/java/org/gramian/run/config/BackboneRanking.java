package org.gramian.run.config;

import java.util.List;
import org.gramian.backbone.weights.PublicFile;

/**
 * Which network is taken of those whose weights are at hand.
 *
 * <p>The order is that of the accuracy on ImageNet that their publishers state, from 80 % for EfficientNet-Lite4 to 58 % for
 * SqueezeNet. Where it was measured here it held: on Flickr's materials, with the paper's head on frozen features,
 * EfficientNet-Lite4 reached 86 % and GoogLeNet 75 %.
 */
public final class BackboneRanking {
    static final List<String> BEST_FIRST =
            List.of("efficientnet-lite4", "resnet50", "vgg19", "vgg16", "resnet18", "googlenet", "squeezenet");

    /** Needs no weights. */
    static final String WITHOUT_WEIGHTS = "filters";

    private BackboneRanking() {}

    /** The best network whose weights can be downloaded. */
    public static PublicFile download() {
        return BEST_FIRST.stream()
                .flatMap(name -> PublicFile.of(name).stream())
                .findFirst()
                .orElseThrow();
    }

    /** The choice: from weights that somebody named, or by rank. */
    static Settings choose(Settings settings, DefaultsContext surroundings) {
        if (settings.has(Keys.BACKBONE)) {
            return settings;
        }
        List<String> present = BEST_FIRST.stream()
                .filter(name -> surroundings.weightsOf(name).isPresent())
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
