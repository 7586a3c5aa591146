package org.gramian.backbone.weights;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.backbone.weights.format.WeightFormat;

/**
 * The names and layouts under which one publisher keeps the parameters of one network.
 *
 * @param publisher who they are, what images they expect, under which licence they publish
 * @param formats the formats they publish in
 * @param origins for each parameter of ours where it is found
 */
record Naming(Publisher publisher, Set<WeightFormat> formats, SequencedMap<String, Origin> origins) {
    Naming {
        formats = Set.copyOf(formats);
        origins = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(origins));
    }

    /** A tensor of a file: its name and how it is laid out. */
    record Origin(String name, Rearrangement rearrangement) {}

    /** Makes the origin of a parameter of a layer, as {@code weight} of {@code conv1_1}. */
    @FunctionalInterface
    interface Rule {
        Origin origin(String layer, String parameter);
    }

    static Naming of(Publisher publisher, ExpectedParameters blueprint, Set<WeightFormat> formats, Rule rule) {
        SequencedMap<String, Origin> origins = new LinkedHashMap<>();
        for (String name : blueprint.parameters().keySet()) {
            int dot = name.lastIndexOf('.');
            origins.put(name, rule.origin(name.substring(0, dot), name.substring(dot + 1)));
        }
        return new Naming(publisher, formats, origins);
    }

    /** Where a parameter of ours is found. */
    Origin origin(String parameter) {
        return Objects.requireNonNull(origins.get(parameter), parameter);
    }

    /** How many of a file's tensors have a place here. */
    long matches(Set<String> names) {
        return origins.values().stream()
                .filter(origin -> names.contains(origin.name))
                .count();
    }

    /** The first names that a file would have, for messages. */
    List<String> examples() {
        return origins.values().stream().limit(2).map(Origin::name).toList();
    }
}
