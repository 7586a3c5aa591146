package org.gramian.basis;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

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

    /** Also refuses unknown, missing and null fields, numbers in quotes, and fractions for whole numbers. */
    private static final JsonMapper STRICT = JSON.rebuild()
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
            .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
            .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .withCoercionConfig(
                    LogicalType.Textual,
                    texts -> List.of(CoercionInputShape.Boolean, CoercionInputShape.Integer, CoercionInputShape.Float)
                            .forEach(shape -> texts.setCoercion(shape, CoercionAction.Fail)))
            .changeDefaultNullHandling(_ -> JsonSetter.Value.construct(Nulls.FAIL, Nulls.FAIL))
            .build();

    /** Start of the part of a Jackson message that names its settings and types. */
    private static final Pattern ADVICE = Pattern.compile("; `|: enable `| \\(but might| \\(class | \\(for Object");

    private JsonText() {}

    public static String of(Object value) {
        return JSON.writeValueAsString(value);
    }

    /** Returns an object with members in order, given as names and values; values may be null. */
    public static SequencedMap<String, Object> object(@Nullable Object... namesAndValues) {
        SequencedMap<String, @Nullable Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            object.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
        }
        return object;
    }

    /** Returns a document as a tree. */
    public static JsonNode tree(Object value) {
        return JSON.valueToTree(value);
    }

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
            return JSON.readValue(RegularFile.bytes(file), type);
        } catch (JacksonException damaged) {
            throw new IOException(file + ": expected " + content + ", found a damaged file; " + advice, damaged);
        }
    }

    /**
     * Binds a document strictly.
     *
     * @throws IllegalArgumentException with the place of what is wrong
     */
    public static <T> T parse(String json, Class<T> type) {
        return bound("unexpected JSON", () -> STRICT.readValue(json, type));
    }

    /**
     * Binds the JSON of a metadata value strictly.
     *
     * @throws IllegalArgumentException with the key and the place of what is wrong
     */
    public static <T> T parse(Map<String, String> metadata, String key, TypeReference<T> type) {
        String json = text(metadata, key);
        String problem = "unexpected JSON as " + key;
        T value = bound(problem + ", " + QuotedText.text(json), () -> STRICT.readValue(json, type));
        if (value == null) {
            throw new IllegalArgumentException(problem + ": null");
        }
        return value;
    }

    /** Returns a metadata value, which is required. */
    public static String text(Map<String, String> metadata, String key) {
        String text = metadata.get(key);
        if (text == null) {
            throw new IllegalArgumentException("expected the metadata " + QuotedText.text(key) + ", found none");
        }
        return text;
    }

    private static <T> T bound(String problem, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (JacksonException wrong) {
            String path = wrong.getPath().stream()
                    .map(step ->
                            step.getPropertyName() == null ? "[" + step.getIndex() + "]" : "." + step.getPropertyName())
                    .collect(Collectors.joining());
            String place = path.isEmpty() ? "" : " at " + QuotedText.text(path.substring(path.startsWith(".") ? 1 : 0));
            String message = ADVICE.split(wrong.getOriginalMessage(), 2)[0].replaceAll("org\\.gramian\\.[\\w.$]*", "");
            throw new IllegalArgumentException(problem + place + ": " + QuotedText.bare(message), wrong);
        }
    }

    /**
     * Reads a document of this program, which begins with its format and version, strictly.
     *
     * @throws IOException {@code FILE: what was expected, what was found}
     */
    public static <T> T read(Path file, Class<T> type, String format, int version, long maxBytes) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + ": expected a file of format " + format + ", found "
                    + (Files.exists(file) ? "something that is not a file" : "none"));
        }
        if (Files.size(file) > maxBytes) {
            throw new IOException(file + ": expected at most " + maxBytes + " bytes of format " + format + ", found "
                    + Files.size(file));
        }
        try {
            String json = Files.readString(file);
            requireVersion(json, format, version);
            return parse(json, type);
        } catch (CharacterCodingException damaged) {
            throw new IOException(file + ": expected text in UTF-8, found other bytes", damaged);
        } catch (JacksonException | IllegalArgumentException wrong) {
            throw new IOException(file + ": " + wrong.getMessage(), wrong);
        }
    }

    private static void requireVersion(String text, String format, int version) {
        try (JsonParser json = STRICT.createParser(text)) {
            boolean ours = json.nextToken() == JsonToken.START_OBJECT
                    && "format".equals(json.nextName())
                    && format.equals(json.nextStringValue())
                    && "version".equals(json.nextName())
                    && json.nextToken() == JsonToken.VALUE_NUMBER_INT;
            if (!ours || json.getIntValue() != version) {
                throw new IllegalArgumentException("expected JSON that begins with \"format\": \"" + format
                        + "\" and version " + version + ", found "
                        + (ours ? "version " + json.getIntValue() + "; use the Gramian that wrote it" : "none"));
            }
        }
    }

    /** Parses a metadata value written by {@link Double#toString}. */
    public static double number(Map<String, String> metadata, String key) {
        String text = text(metadata, key);
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException _) {
            throw new IllegalArgumentException("expected a number as " + key + ", found " + QuotedText.text(text));
        }
    }
}
