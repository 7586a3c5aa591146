package org.gramian.basis;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Predicate;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Documents as JSON, and lists and maps as JSON in a metadata value, parsed strictly and without loss.
 *
 * <p>A number that JSON does not have, as {@code NaN}, is quoted.
 */
public final class JsonText {
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private JsonText() {}

    public static String of(Object value) {
        return JSON.writeValueAsString(value);
    }

    /** Returns indented JSON. */
    public static String indented(Object value) {
        return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(value);
    }

    /** Writes a document to a file, indented and atomically. */
    public static void write(Path file, Object value) throws IOException {
        AtomicFile.putText(file, text -> text.write(indented(value)));
    }

    /**
     * Reads a file of {@link #write}.
     *
     * @param content what the file should be, and {@code advice} what to do if it is damaged
     * @throws IOException if the file is damaged
     */
    public static <T> T read(Path file, Class<T> type, String content, String advice) throws IOException {
        try {
            return JSON.readValue(file.toFile(), type);
        } catch (JacksonException damaged) {
            throw new IOException(file + ": expected " + content + ", found a damaged file; " + advice, damaged);
        }
    }

    public static List<String> strings(String key, String json) {
        List<String> all = new ArrayList<>();
        for (JsonNode node : tree(key, "a list of texts", json, JsonNode::isArray)) {
            all.add(string(key, node));
        }
        return all;
    }

    public static SequencedMap<String, String> texts(String key, String json) {
        SequencedMap<String, String> all = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry :
                tree(key, "texts by name", json, JsonNode::isObject).properties()) {
            all.put(entry.getKey(), string(key, entry.getValue()));
        }
        return all;
    }

    public static SequencedMap<String, Double> numbers(String key, String json) {
        SequencedMap<String, Double> all = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry :
                tree(key, "numbers by name", json, JsonNode::isObject).properties()) {
            JsonNode node = entry.getValue();
            if (!node.isNumber() && !node.isString()) {
                throw unexpected(key, "numbers", node.toString());
            }
            all.put(entry.getKey(), number(key, node.asString()));
        }
        return all;
    }

    /** Parses a number written by {@link Double#toString}. */
    public static double number(String key, String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException _) {
            throw unexpected(key, "a number", text);
        }
    }

    private static String string(String key, JsonNode node) {
        if (!node.isString()) {
            throw unexpected(key, "texts", node.toString());
        }
        return node.asString();
    }

    private static JsonNode tree(String key, String wanted, String json, Predicate<JsonNode> isWanted) {
        JsonNode tree;
        try {
            tree = JSON.readTree(json);
        } catch (JacksonException wrong) {
            throw new IllegalArgumentException(
                    "expected " + wanted + " in JSON as " + key + ", found: "
                            + QuotedText.bare(wrong.getOriginalMessage()),
                    wrong);
        }
        if (!isWanted.test(tree)) {
            throw unexpected(key, wanted, json);
        }
        return tree;
    }

    private static IllegalArgumentException unexpected(String key, String wanted, String found) {
        return new IllegalArgumentException("expected " + wanted + " as " + key + ", found " + QuotedText.text(found));
    }
}
