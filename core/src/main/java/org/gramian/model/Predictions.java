package org.gramian.model;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.gramian.basis.JsonText;

/**
 * Predictions of image files, in the order of the files.
 *
 * @param found the prediction of each file that is a readable image
 * @param failed the reason why a file has no prediction: it is not readable, or its scores are not finite
 * @since 0.1
 */
public record Predictions(SequencedMap<Path, Prediction> found, SequencedMap<Path, String> failed) {
    public Predictions {
        found = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(found));
        failed = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(failed));
    }

    /** Returns the predictions, and the reasons of {@link #failed}, by file as a JSON object. */
    public String toJson() {
        SequencedMap<String, Object> predicted = new LinkedHashMap<>();
        found.forEach((file, prediction) -> predicted.put(
                file.toString(), prediction.asMap(prediction.ranking().size())));
        SequencedMap<String, Object> reasons = new LinkedHashMap<>();
        failed.forEach((file, reason) -> reasons.put(file.toString(), reason));
        return JsonText.of(JsonText.object("found", predicted, "failed", reasons));
    }
}
