package org.gramian.backbone;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.gramian.backbone.network.NetworkLayer;

/**
 * Architecture: layers in order, each of which can be the feature layer.
 *
 * @param name name on the command line
 * @param stages layers from the image to the class scores, with distinct names
 */
record Network(String name, List<NetworkLayer> stages, Cuts cuts, BackboneInfo about) {
    Network {
        stages = List.copyOf(stages);
        Set<String> names = new HashSet<>();
        for (NetworkLayer stage : stages) {
            if (!names.add(stage.name())) {
                throw new IllegalArgumentException(name + " has two layers named " + stage.name());
            }
        }
    }

    /**
     * Feature layers of a network.
     *
     * @param selectionLayers layer or layers ({@code a+b}) on which poolings are compared
     * @param fineTunedLayers layer or layers for fine-tuning
     * @param classifier first layer with parameters that only class scores need; empty if there is none
     */
    record Cuts(String defaultLayer, String selectionLayers, String fineTunedLayers, Optional<String> classifier) {
        Cuts(String defaultLayer, String classifier) {
            this(defaultLayer, defaultLayer, defaultLayer, Optional.of(classifier));
        }

        static Cuts withoutClassifier(String defaultLayer) {
            return new Cuts(defaultLayer, defaultLayer, defaultLayer, Optional.empty());
        }

        /** Returns these layers with others to compare poolings on and to fine-tune. */
        Cuts with(String selection, String fineTuned) {
            return new Cuts(defaultLayer, selection, fineTuned, classifier);
        }
    }

    /** Returns the layers from the first one of the classifier on. */
    List<NetworkLayer> classifier() {
        List<String> names = stages.stream().map(NetworkLayer::name).toList();
        return cuts.classifier
                .map(first -> stages.subList(names.indexOf(first), stages.size()))
                .orElse(List.of());
    }
}
