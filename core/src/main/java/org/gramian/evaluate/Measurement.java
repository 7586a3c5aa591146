package org.gramian.evaluate;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What came of measuring a model: the evaluation, and the images that it does not count.
 *
 * @param evaluation of all images that could be read
 * @param unreadable names of the others, each with the reason why it could not be read
 */
public record Measurement(Evaluation evaluation, SortedMap<String, String> unreadable) {
    public Measurement {
        unreadable = Collections.unmodifiableSortedMap(new TreeMap<>(unreadable));
    }
}
