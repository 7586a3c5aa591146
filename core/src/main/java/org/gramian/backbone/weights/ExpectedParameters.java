package org.gramian.backbone.weights;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/**
 * Parameters that a weight file of a network must hold, under Gramian's names.
 *
 * @param architecture name of the network, such as {@code vgg16}
 * @param parameters shapes by name, in the network's order
 * @param classifier parameters that only class scores need; a file may lack them
 * @param usual preprocessing, unless a file states another
 */
record ExpectedParameters(
        String architecture, SequencedMap<String, Shape> parameters, Set<String> classifier, Preprocessing usual) {
    /** Copies the map. */
    ExpectedParameters {
        parameters = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(parameters));
        classifier = Set.copyOf(classifier);
    }

    /**
     * Returns the parameters of the whole network of a backbone.
     *
     * @throws IllegalArgumentException if there is no such backbone or it needs no weights
     */
    static ExpectedParameters of(String architecture) {
        Backbone backbone = Backbone.of(architecture);
        if (!backbone.about().weights().needed()) {
            throw new IllegalArgumentException("the backbone '" + architecture + "' needs no weights");
        }
        SequencedMap<String, Shape> parameters = new LinkedHashMap<>();
        for (ParameterSpec spec : backbone.cutAt(backbone.layers().getLast()).parameters()) {
            parameters.put(spec.name(), spec.shape());
        }
        return new ExpectedParameters(architecture, parameters, backbone.classifier(), backbone.preprocessing());
    }
}
