package org.gramian.run.config;

import java.util.List;
import java.util.Optional;
import org.gramian.basis.NearestWord;
import org.gramian.basis.QuotedText;

/** Suggests a key for an unknown name. */
final class KeySuggestion {
    private KeySuggestion() {}

    /** Returns the message about an unknown name, with the nearest key. */
    static String of(String name) {
        return "unknown key " + QuotedText.text(name)
                + meant(name).map(key -> " (did you mean '" + key + "'?)").orElse("") + "; " + listing(name);
    }

    /** Returns the same key of another section, else the nearest of the section, else the nearest of all. */
    private static Optional<String> meant(String name) {
        return inside(Keys.names(), lastPart(name))
                .or(() -> nearestPart(name, sameSection(name)))
                .or(() -> NearestWord.of(name, Keys.names()))
                .or(() -> nearestPart(name, Keys.names()));
    }

    private static Optional<String> nearestPart(String name, List<String> keys) {
        List<String> parts = keys.stream().map(KeySuggestion::lastPart).toList();
        return NearestWord.of(lastPart(name), parts).flatMap(part -> inside(keys, part));
    }

    private static Optional<String> inside(List<String> keys, String part) {
        return keys.stream().filter(key -> lastPart(key).equals(part)).findFirst();
    }

    private static String listing(String name) {
        List<String> near = sameSection(name);
        return near.isEmpty()
                ? "the sections are " + String.join(", ", sections()) + ", plus seed and fidelity"
                : "the section '" + section(name) + "' has "
                        + String.join(
                                ", ", near.stream().map(KeySuggestion::lastPart).toList());
    }

    private static List<String> sameSection(String name) {
        return Keys.names().stream()
                .filter(known -> known.contains(".") && section(known).equals(section(name)))
                .toList();
    }

    /** Returns all sections, in order. */
    static List<String> sections() {
        return Keys.names().stream()
                .filter(name -> name.contains("."))
                .map(KeySuggestion::section)
                .distinct()
                .toList();
    }

    private static String section(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : name.substring(0, dot);
    }

    private static String lastPart(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
