package org.gramian.backbone.weights;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;
import org.gramian.image.crop.Preprocessing;
import org.gramian.tensor.Shape;

/**
 * Parameters that a weight file of a network must hold, under Gramian's names.
 *
 * @param classifier parameters that only class scores need; a file may lack them
 */
record ExpectedParameters(
        String architecture,
        SequencedMap<String, Shape> parameters,
        Set<String> classifier,
        Preprocessing defaultPreprocessing,
        Optional<String> definition) {
    /** Returns the parameters of a built-in network. */
    static ExpectedParameters of(String architecture) {
        return of(Backbone.of(architecture));
    }

    /** Copies the map. */
    ExpectedParameters {
        parameters = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(parameters));
        classifier = Set.copyOf(classifier);
    }

    /** Returns the parameters of the whole network of a backbone. */
    static ExpectedParameters of(Backbone backbone) {
        if (!backbone.about().weights().needed()) {
            throw new IllegalArgumentException("the backbone '" + backbone.name() + "' needs no weights");
        }
        SequencedMap<String, Shape> parameters = new LinkedHashMap<>();
        for (ParameterSpec spec : backbone.cutAt(backbone.layers().getLast()).parameters()) {
            parameters.put(spec.name(), spec.shape());
        }
        return new ExpectedParameters(
                backbone.name(), parameters, backbone.classifier(), backbone.preprocessing(), backbone.definition());
    }
}
