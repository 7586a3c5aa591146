package org.gramian.model;

import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Function;
import org.gramian.basis.QuotedText;
import org.gramian.image.ReadResult;
import org.gramian.image.batch.Rendering;
import org.gramian.image.crop.CropPlan;
import org.gramian.image.crop.Preprocessing;

/**
 * What a model must tell besides its numbers: what it answers with, what it expects of images, and how it came about.
 *
 * @param classes names, in the order of the scores; at least 2, none empty, no two equal
 * @param preprocessing what the backbone expects of images
 * @param crops which crops of an image are averaged when predicting (the plan's {@linkplain CropPlan#testing testing} crops)
 * @param temperature what scores are divided by before the softmax, positive; 1 where nothing was fitted
 * @param origin how it was trained, by key: protocol, fold, fingerprint, seed, versions, weights, configuration; no clock time
 * @param metrics what was measured on the test images, by name
 */
public record ModelCard(
        List<String> classes,
        Preprocessing preprocessing,
        CropPlan crops,
        double temperature,
        SequencedMap<String, String> origin,
        SequencedMap<String, Double> metrics) {
    /** @throws IllegalArgumentException if class names or the temperature are not as said above */
    public ModelCard {
        classes = List.copyOf(classes);
        origin = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(origin));
        metrics = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(metrics));
        if (classes.size() < 2) {
            throw new IllegalArgumentException("expected a model of at least 2 classes, found " + classes.size());
        }
        requireDistinct(classes);
        if (!(temperature > 0) || !Double.isFinite(temperature)) {
            throw new IllegalArgumentException("expected a positive temperature, found " + temperature);
        }
    }

    /** How files of whole images become crops, whatever the model was trained on. */
    public Rendering rendering(Function<Path, ReadResult> reader) {
        return new Rendering(reader, crops.whole().testing(), preprocessing);
    }

    private static void requireDistinct(List<String> classes) {
        Set<String> seen = new HashSet<>();
        for (String name : classes) {
            if (name.isBlank()) {
                throw new IllegalArgumentException("expected a name for every class, found an empty one");
            }
            if (!seen.add(name)) {
                throw new IllegalArgumentException(
                        "expected unique class names, found " + QuotedText.text(name) + " twice");
            }
        }
    }
}
