package org.gramian.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.backbone.Backbone;
import org.gramian.backbone.weights.WeightStore;
import org.gramian.tensor.Device;

/**
 * Specification of a task, the same for both languages: {@code head batch=32 channels=512 ... threads=2 device=cpu}.
 *
 * @param name of the task
 * @param values sizes, number of threads and device by name
 */
record TaskSpec(String name, SequencedMap<String, String> values) {
    static TaskSpec parse(List<String> words) {
        SequencedMap<String, String> values = new LinkedHashMap<>();
        for (String word : words.subList(1, words.size())) {
            int equals = word.indexOf('=');
            values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return new TaskSpec(words.getFirst(), values);
    }

    /** Returns the words that {@link #parse} reads. */
    List<String> words() {
        List<String> words = new ArrayList<>(List.of(name));
        values.forEach((key, value) -> words.add(key + "=" + value));
        return words;
    }

    /** Returns a copy for another task. */
    TaskSpec named(String other) {
        return new TaskSpec(other, values);
    }

    int number(String key) {
        return Integer.parseInt(text(key));
    }

    Device device() {
        return Device.parse(text("device"));
    }

    Precision precision() {
        return Precision.parse(text("precision"));
    }

    /** Returns the backbone at its default layer: built in, installed, or in a file like those of the weights folder. */
    Backbone backbone() {
        return WeightStore.ofProcess().backbone(text("backbone"));
    }

    String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("the task " + name + " needs " + key + "=..., found " + words());
        }
        return value;
    }

    /** Returns a copy with more values. */
    TaskSpec with(Map<String, String> more) {
        SequencedMap<String, String> all = new LinkedHashMap<>(values);
        all.putAll(more);
        return new TaskSpec(name, all);
    }
}
