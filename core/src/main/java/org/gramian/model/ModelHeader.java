package org.gramian.model;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.autodiff.ParameterSpec;
import org.gramian.backbone.Backbone;

/**
 * A model file without its parameters: architecture and card.
 *
 * @param backbone images to features
 * @param head features to scores
 * @param card classes, preprocessing, origin, metrics
 */
public record ModelHeader(Backbone backbone, Head head, ModelCard card) {
    static final String BACKBONE = "backbone";
    static final String HEAD = "head";

    /** @throws IllegalArgumentException if there are not as many class names as scores, or the crops do not fit */
    public ModelHeader {
        if (head.classes() != card.classes().size()) {
            throw new IllegalArgumentException("expected a name for every class, found "
                    + card.classes().size() + " names for " + head.classes() + " classes");
        }
        head.pooling().descriptorSize(backbone.channels());
        backbone.features(card.crops().size(), card.crops().size());
    }

    /** Returns the header of a model. */
    public static ModelHeader of(Model model, ModelCard card) {
        return new ModelHeader(model.backbone(), model.head(), card);
    }

    /**
     * Parses the result of {@link #texts}.
     *
     * @throws IllegalArgumentException if it is no header of this version; the message says what was expected and found
     */
    public static ModelHeader of(Map<String, String> texts) {
        return ModelMetadata.read(texts);
    }

    /** Returns the header as text by key, as in a model file. */
    public SequencedMap<String, String> texts() {
        return ModelMetadata.of(this);
    }

    /** Returns every parameter by its name in the file: {@code backbone.NAME} and {@code head.NAME}. */
    public SequencedMap<String, ParameterSpec> parameters() {
        SequencedMap<String, ParameterSpec> all = new LinkedHashMap<>();
        add(backbone.parameters(), BACKBONE, all);
        add(head.parameters(backbone.channels()), HEAD, all);
        return all;
    }

    private static void add(List<ParameterSpec> specs, String part, SequencedMap<String, ParameterSpec> all) {
        for (ParameterSpec spec : specs) {
            ParameterSpec named = spec.under(part);
            all.put(named.name(), named);
        }
    }

    /** Returns the length of a descriptor. */
    public long descriptorSize() {
        return head.pooling().descriptorSize(backbone.channels());
    }

    /** Returns the number of values of all parameters with this name prefix, fixed ones included. */
    public long count(String prefix) {
        return parameters().values().stream()
                .filter(spec -> spec.name().startsWith(prefix))
                .mapToLong(spec -> spec.shape().elements())
                .sum();
    }
}
