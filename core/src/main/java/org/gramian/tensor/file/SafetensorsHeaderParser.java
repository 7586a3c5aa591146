package org.gramian.tensor.file;

import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.SafetensorsHeader.Entry;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonParser.NumberType;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads a safetensors header token by token, so that memory follows what is accepted and not what a hostile header
 * contains. Whatever the format does not name is an error; nesting therefore never goes deeper than three.
 */
final class SafetensorsHeaderParser {
    private static final int MAX_NAMES = 100_000;
    private static final int MAX_TEXT_LENGTH = 20_000_000;

    /** Without the shared table of names, which hostile names could fill. */
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_TEXT_LENGTH)
                    .build())
            .build();

    private final Path file;
    private final JsonParser json;
    private final SequencedMap<String, Entry> entries = new LinkedHashMap<>();
    private @Nullable SequencedMap<String, String> metadata;

    private SafetensorsHeaderParser(Path file, JsonParser json) {
        this.file = file;
        this.json = json;
    }

    /** The header of these bytes; whether its offsets fit the data is for {@link SafetensorsHeader} to say. */
    static SafetensorsHeader parse(Path file, byte[] bytes) throws TensorFileException {
        if (bytes.length == 0 || bytes[0] != '{') {
            String found = bytes.length == 0 ? "nothing" : "byte 0x%02x".formatted(bytes[0]);
            throw new TensorFileException(file, "expected the header to begin with '{', found " + found);
        }
        // Jackson would guess the encoding of bytes and let some faults pass; a reporting decoder does neither.
        Reader text = new InputStreamReader(new ByteArrayInputStream(bytes), StandardCharsets.UTF_8.newDecoder());
        try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), text)) {
            return new SafetensorsHeaderParser(file, json).header();
        } catch (JacksonException e) {
            String problem = e.getCause() instanceof CharacterCodingException
                    ? "expected a header in UTF-8, found other bytes"
                    : "expected a header in JSON within limits, found: " + QuotedText.bare(e.getOriginalMessage());
            throw new TensorFileException(file, problem, e);
        }
    }

    private SafetensorsHeader header() throws TensorFileException {
        json.nextToken();
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.getString();
            json.nextToken();
            if (name.equals(SafetensorsHeader.METADATA)) {
                once(metadata, "the header", name);
                metadata = metadata();
            } else {
                once(entries.get(name), "the header", name);
                limit(entries.size(), "tensors");
                entries.put(name, entry(name));
            }
        }
        if (json.nextToken() != null) {
            throw fault("expected only spaces after the header's JSON object, found " + token());
        }
        return new SafetensorsHeader(
                entries.values().stream().toList(), metadata == null ? new LinkedHashMap<>() : metadata);
    }

    private SequencedMap<String, String> metadata() throws TensorFileException {
        expect(JsonToken.START_OBJECT, "an object as " + SafetensorsHeader.METADATA);
        SequencedMap<String, String> texts = new LinkedHashMap<>();
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String key = json.getString();
            once(texts.get(key), SafetensorsHeader.METADATA, key);
            limit(texts.size(), "metadata");
            json.nextToken();
            expect(JsonToken.VALUE_STRING, "text as metadata " + QuotedText.text(key));
            texts.put(key, unicode());
        }
        return texts;
    }

    private Entry entry(String name) throws TensorFileException {
        String tensor = "tensor " + QuotedText.text(name);
        expect(JsonToken.START_OBJECT, "an object with dtype, shape and data_offsets as " + tensor);
        @Nullable DType type = null;
        long @Nullable [] sizes = null;
        long @Nullable [] offsets = null;
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String field = json.currentName();
            json.nextToken();
            switch (field) {
                case "dtype" -> {
                    once(type, tensor, field);
                    type = type(tensor);
                }
                case "shape" -> {
                    once(sizes, tensor, field);
                    sizes = numbers("shape of " + tensor, StoredTensor.MAX_RANK);
                }
                case "data_offsets" -> {
                    once(offsets, tensor, field);
                    offsets = numbers("data_offsets of " + tensor, 2);
                }
                default ->
                    throw fault(tensor + ": expected dtype, shape and data_offsets, found " + QuotedText.text(field));
            }
        }
        if (type == null || sizes == null || offsets == null) {
            String missing = type == null ? "dtype" : sizes == null ? "shape" : "data_offsets";
            throw fault(tensor + ": expected dtype, shape and data_offsets, found no " + missing);
        }
        return checked(name, type, sizes, offsets);
    }

    private Entry checked(String name, DType type, long[] sizes, long[] offsets) throws TensorFileException {
        String tensor = "tensor " + QuotedText.text(name);
        if (offsets.length != 2 || offsets[0] > offsets[1]) {
            throw fault(tensor + ": expected data_offsets [begin, end] with begin <= end, found "
                    + Arrays.toString(offsets));
        }
        try {
            Shape shape = Shape.of(sizes);
            long expected = StoredTensor.bytes(type, shape);
            if (offsets[1] - offsets[0] != expected) {
                throw fault("%s: %s of shape %s takes %d bytes, found %d between data_offsets %s"
                        .formatted(tensor, type, shape, expected, offsets[1] - offsets[0], Arrays.toString(offsets)));
            }
            return new Entry(name, type, shape, offsets[0], offsets[1]);
        } catch (IllegalArgumentException e) {
            throw new TensorFileException(file, tensor + ": " + e.getMessage(), e);
        }
    }

    private DType type(String tensor) throws TensorFileException {
        expect(JsonToken.VALUE_STRING, "text as dtype of " + tensor);
        String found = json.getString();
        Optional<DType> type = Arrays.stream(DType.values())
                .filter(candidate -> candidate.name().equals(found))
                .findFirst();
        return type.orElseThrow(() -> fault(
                tensor + ": the type " + QuotedText.text(found) + " is not supported; supported are " + DType.names()));
    }

    private long[] numbers(String what, int most) throws TensorFileException {
        expect(JsonToken.START_ARRAY, "an array as " + what);
        long[] numbers = new long[most];
        int count = 0;
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (count == most) {
                throw fault("expected at most " + most + " numbers as " + what + ", found more");
            }
            numbers[count++] = number(what);
        }
        return Arrays.copyOf(numbers, count);
    }

    private long number(String what) throws TensorFileException {
        boolean whole = json.currentToken() == JsonToken.VALUE_NUMBER_INT
                && (json.getNumberType() == NumberType.INT || json.getNumberType() == NumberType.LONG);
        if (!whole || json.getLongValue() < 0) {
            throw fault("expected whole numbers from 0 to 2^63-1 as " + what + ", found " + token());
        }
        return json.getLongValue();
    }

    private void expect(JsonToken expected, String what) throws TensorFileException {
        if (json.currentToken() != expected) {
            throw fault("expected " + what + ", found " + token());
        }
    }

    private void once(@Nullable Object before, String where, String key) throws TensorFileException {
        if (before != null) {
            throw fault(where + ": expected every name once, found " + QuotedText.text(key) + " twice");
        }
    }

    private void limit(int count, String what) throws TensorFileException {
        if (count == MAX_NAMES) {
            throw fault("expected at most %d %s, found more".formatted(MAX_NAMES, what));
        }
    }

    /** The current text; Jackson checks escaped surrogates in names, but not in text. */
    private String unicode() throws TensorFileException {
        String text = json.getString();
        if (text.codePoints().anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)) {
            throw fault("expected metadata in Unicode, found half a surrogate pair in " + QuotedText.text(text));
        }
        return text;
    }

    private String token() {
        return QuotedText.bare(json.getString());
    }

    private TensorFileException fault(String problem) {
        return new TensorFileException(file, problem);
    }
}
