package org.gramian.run.table;

import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.gramian.run.config.Keys;
import org.gramian.run.config.Setting;

/**
 * The settings of a table, each said once: those of all runs, those of all runs on a dataset, and what is left of each run.
 *
 * @param all texts by key of every entry that could be planned
 * @param common those that all have
 */
record SharedSettings(Map<TableEntry, Map<String, String>> all, Map<String, String> common) {
    static SharedSettings of(List<TableEntry> entries) {
        Map<TableEntry, Map<String, String>> all = new LinkedHashMap<>();
        for (TableEntry entry : entries) {
            entry.work().ifPresent(work -> all.put(entry, texts(work)));
        }
        return new SharedSettings(all, shared(all.values()));
    }

    private static Map<String, String> texts(TableEntry.Work work) {
        Map<String, String> texts = new LinkedHashMap<>();
        for (Setting setting : work.plan().settings().values().values()) {
            if (!Keys.isOutput(setting.key())) { // says nothing of the numbers
                texts.put(setting.key(), text(setting));
            }
        }
        return texts;
    }

    /** Weights may be a file somewhere on this machine; where says nothing. */
    private static String text(Setting setting) {
        return setting.key().equals(Keys.WEIGHTS.name())
                ? String.valueOf(Path.of(setting.text()).getFileName())
                : setting.text();
    }

    private static Map<String, String> shared(Collection<Map<String, String>> some) {
        Optional<Map<String, String>> first = some.stream().findFirst();
        Map<String, String> same = new LinkedHashMap<>(first.orElse(Map.of()));
        some.forEach(other ->
                same.entrySet().removeIf(entry -> !entry.getValue().equals(other.get(entry.getKey()))));
        return same;
    }

    /** What all rows have on a dataset, but not on all. */
    Map<String, String> of(TableData data) {
        return less(
                shared(all.entrySet().stream()
                        .filter(entry -> entry.getKey().data().equals(data))
                        .map(Map.Entry::getValue)
                        .toList()),
                common);
    }

    /** What a row has of its own on its dataset. */
    Map<String, String> of(TableEntry entry) {
        if (!all.containsKey(entry)) {
            return new HashMap<>();
        }
        Map<String, String> rest = less(Objects.requireNonNull(all.get(entry)), common);
        return less(rest, of(entry.data()));
    }

    private static Map<String, String> less(Map<String, String> texts, Map<String, String> others) {
        Map<String, String> rest = new LinkedHashMap<>(texts);
        rest.keySet().removeAll(others.keySet());
        return rest;
    }
}
