package org.gramian.backbone;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An architecture: its stages in order, of which it may be cut after any.
 *
 * @param name what users type
 * @param stages from the image to the class scores, under distinct names
 * @param cuts where features end
 * @param about what one should know of it
 */
record Network(String name, List<NetworkLayer> stages, Cuts cuts, BackboneInfo about) {
    /** Channels of an image. */
    static final int COLOURS = 3;

    Network {
        stages = List.copyOf(stages);
        Set<String> names = new HashSet<>();
        for (NetworkLayer stage : stages) {
            if (!names.add(stage.name())) {
                throw new IllegalArgumentException(name + " has two layers named " + stage.name());
            }
        }
        for (String layer : List.of(cuts.defaultLayer, cuts.classifier.orElse(cuts.defaultLayer))) {
            if (!names.contains(layer)) {
                throw new IllegalArgumentException(name + " has no layer " + layer);
            }
        }
    }

    /**
     * Where features end.
     *
     * @param defaultLayer default feature layer
     * @param raceLayers where it is cut to compare poolings: the default layer, or several layers as {@code a+b}
     * @param fineTunedLayers where it is cut to be fine-tuned
     * @param classifier the first layer with parameters that only class scores need; empty if there is none
     */
    record Cuts(String defaultLayer, String raceLayers, String fineTunedLayers, Optional<String> classifier) {
        Cuts(String defaultLayer, String classifier) {
            this(defaultLayer, defaultLayer, defaultLayer, Optional.of(classifier));
        }

        static Cuts withoutClassifier(String defaultLayer) {
            return new Cuts(defaultLayer, defaultLayer, defaultLayer, Optional.empty());
        }

        /** The same with other layers to compare poolings on, and to fine-tune. */
        Cuts with(String race, String fineTuned) {
            return new Cuts(defaultLayer, race, fineTuned, classifier);
        }
    }

    /** The stages from the classifier's first on. */
    List<NetworkLayer> classifier() {
        List<String> names = stages.stream().map(NetworkLayer::name).toList();
        return cuts.classifier
                .map(first -> stages.subList(names.indexOf(first), stages.size()))
                .orElse(List.of());
    }
}
