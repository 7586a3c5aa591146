package org.gramian.model;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Predictions of image files, in the order of the files.
 *
 * @param found the prediction of each file that is a readable image
 * @param failed the reason why a file has no prediction: it is not readable, or its scores are not finite
 */
public record Predictions(SequencedMap<Path, Prediction> found, SequencedMap<Path, String> failed) {
    public Predictions {
        found = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(found));
        failed = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(failed));
    }
}
