package org.gramian.model;

import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;

/**
 * Metadata of a model: classes, preprocessing, crops, temperature, origin and metrics.
 *
 * @param classes names, in the order of the scores; at least 2, none blank, no two equal
 * @param preprocessing channel order, mean and standard deviation that the backbone expects
 * @param crops crops of an image that are averaged (the plan's {@linkplain CropPlan#testing testing} crops)
 * @param temperature divisor of the scores before the softmax, finite and at least 1e-6; 1 without calibration
 * @param origin how it was trained, by key: protocol, fold, fingerprint, seed, versions, weights, configuration; no clock time
 * @param metrics metrics of the test set, by name
 * @param openSet recognition of images of no class; empty if the model classifies every image
 * @since 0.1
 */
public record ModelCard(
        List<String> classes,
        Preprocessing preprocessing,
        CropPlan crops,
        double temperature,
        SequencedMap<String, String> origin,
        SequencedMap<String, Double> metrics,
        Optional<OpenSet> openSet) {
    /** Scores divided by less could overflow. */
    public static final double LEAST_TEMPERATURE = 1e-6;

    /** Creates the card of a model that classifies every image. */
    public ModelCard(
            List<String> classes,
            Preprocessing preprocessing,
            CropPlan crops,
            double temperature,
            SequencedMap<String, String> origin,
            SequencedMap<String, Double> metrics) {
        this(classes, preprocessing, crops, temperature, origin, metrics, Optional.empty());
    }

    /** @throws IllegalArgumentException if class names or the temperature are invalid */
    public ModelCard {
        classes = List.copyOf(classes);
        origin = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(origin));
        metrics = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metrics));
        if (classes.size() < 2) {
            throw new IllegalArgumentException("expected a model of at least 2 classes, found " + classes.size());
        }
        requireNames(classes);
        if (!(temperature >= LEAST_TEMPERATURE) || !Double.isFinite(temperature)) {
            throw new IllegalArgumentException(
                    "expected a finite temperature of at least " + LEAST_TEMPERATURE + ", found " + temperature);
        }
    }

    /** Returns this card with another recognition of images of no class. */
    public ModelCard with(Optional<OpenSet> other) {
        return new ModelCard(classes, preprocessing, crops, temperature, origin, metrics, other);
    }

    /**
     * Returns the index of a class.
     *
     * @throws IllegalArgumentException if the model does not know it
     */
    public int label(String name) {
        int label = classes.indexOf(name);
        if (label < 0) {
            throw new IllegalArgumentException("expected a class of the model, found " + QuotedText.text(name)
                    + NearestWord.suggestion(name, classes));
        }
        return label;
    }

    private static void requireNames(List<String> classes) {
        Set<String> seen = new HashSet<>();
        for (String name : classes) {
            if (name.isBlank()) {
                throw new IllegalArgumentException("expected a name for every class, found " + QuotedText.text(name)
                        + " for class " + classes.indexOf(name));
            }
            if (!seen.add(name)) {
                throw new IllegalArgumentException(
                        "expected unique class names, found " + QuotedText.text(name) + " twice");
            }
        }
    }
}
