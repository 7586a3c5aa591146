package org.gramian.tensor.file;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonEncoding;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonParser.NumberType;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/** Header of a safetensors file: offsets of the tensors, and metadata. */
record SafetensorsHeader(List<Entry> entries, SequencedMap<String, String> metadata) {
    private static final String METADATA = "__metadata__";

    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .build();

    /** Types in the order of their data, from wide to narrow as in the reference implementation. */
    private static final List<DType> ORDER =
            List.of(DType.I64, DType.F64, DType.F32, DType.I32, DType.BF16, DType.F16, DType.U8, DType.BOOL);

    /** Order by code points, as in the reference implementation; {@code compareTo} compares UTF-16 units. */
    private static final Comparator<String> BY_CODE_POINT =
            Comparator.comparing(text -> text.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** Tensor in the bytes from {@code begin} to before {@code end}, counted from the end of the header. */
    record Entry(String name, DType type, Shape shape, long begin, long end) {}

    SafetensorsHeader {
        entries = List.copyOf(entries);
        metadata = Collections.unmodifiableSequencedMap(metadata);
    }

    static SafetensorsHeader of(Map<String, StoredTensor> tensors, Map<String, String> metadata) {
        if (tensors.containsKey(METADATA)) {
            throw new IllegalArgumentException("expected names of tensors, found the reserved name " + METADATA);
        }
        List<Map.Entry<String, StoredTensor>> sorted = new ArrayList<>(tensors.entrySet());
        sorted.sort(Comparator.comparingInt((Map.Entry<String, StoredTensor> tensor) ->
                        ORDER.indexOf(tensor.getValue().type()))
                .thenComparing(Map.Entry::getKey, BY_CODE_POINT));
        List<Entry> entries = new ArrayList<>();
        long begin = 0;
        for (var tensor : sorted) {
            StoredTensor value = tensor.getValue();
            long end = begin + value.data().byteSize();
            entries.add(new Entry(tensor.getKey(), value.type(), value.shape(), begin, end));
            begin = end;
        }
        SequencedMap<String, String> sortedMetadata = new TreeMap<>(BY_CODE_POINT);
        sortedMetadata.putAll(metadata);
        return new SafetensorsHeader(entries, sortedMetadata);
    }

    /** Returns the JSON, padded with spaces so that the data begins at a multiple of eight. */
    byte[] encode(Path file) throws TensorFileException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), bytes, JsonEncoding.UTF8)) {
            json.writeStartObject();
            if (!metadata.isEmpty()) {
                json.writeName(METADATA).writeStartObject();
                metadata.forEach(json::writeStringProperty);
                json.writeEndObject();
            }
            entries.forEach(entry -> encode(entry, json));
            json.writeEndObject();
        } catch (JacksonException e) {
            String reason = QuotedText.bare(e.getOriginalMessage());
            throw new TensorFileException(
                    file, "cannot be written: a name or metadata value is not text: " + reason, e);
        }
        while (bytes.size() % Long.BYTES != 0) {
            bytes.write(' ');
        }
        return bytes.toByteArray();
    }

    private static void encode(Entry entry, JsonGenerator json) {
        long[] sizes = entry.shape().sizes();
        json.writeName(entry.name()).writeStartObject();
        json.writeStringProperty("dtype", entry.type().name());
        json.writeName("shape").writeArray(sizes, 0, sizes.length);
        json.writeName("data_offsets").writeArray(new long[] {entry.begin(), entry.end()}, 0, 2);
        json.writeEndObject();
    }

    /** Returns the entries sorted by offset; throws unless they cover all of the data without overlaps or holes. */
    List<Entry> inOrderOfData(Path file, long dataBytes) throws TensorFileException {
        List<Entry> sorted = new ArrayList<>(entries);
        sorted.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
        long covered = 0;
        for (Entry entry : sorted) {
            if (entry.begin() != covered) {
                String fault = entry.begin() < covered ? "overlaps the tensor before it" : "leaves a hole before it";
                throw new TensorFileException(
                        file,
                        "tensor %s %s: expected it to begin at offset %d, found %d"
                                .formatted(QuotedText.text(entry.name()), fault, covered, entry.begin()));
            }
            covered = entry.end();
        }
        if (covered != dataBytes) {
            String fault = covered > dataBytes ? "is truncated" : "has trailing bytes";
            throw new TensorFileException(
                    file, "%s: the header describes %d bytes of data, found %d".formatted(fault, covered, dataBytes));
        }
        return sorted;
    }

    /** Parses a header; {@link #inOrderOfData} checks its offsets. */
    static SafetensorsHeader parse(Path file, byte[] bytes) throws TensorFileException {
        if (bytes.length == 0 || bytes[0] != '{') {
            String found = bytes.length == 0 ? "nothing" : "byte 0x%02x".formatted(bytes[0]);
            throw new TensorFileException(file, "expected the header to begin with '{', found " + found);
        }
        // Jackson would guess the encoding of bytes and let some faults pass; a reporting decoder does neither.
        Reader text = new InputStreamReader(new ByteArrayInputStream(bytes), StandardCharsets.UTF_8.newDecoder());
        try (JsonParser json = Parser.READER.createParser(ObjectReadContext.empty(), text)) {
            return new Parser(file, json).header();
        } catch (JacksonException e) {
            String problem = e.getCause() instanceof CharacterCodingException
                    ? "expected a header in UTF-8, found other bytes"
                    : "expected a header in JSON within limits, found: " + QuotedText.bare(e.getOriginalMessage());
            throw new TensorFileException(file, problem, e);
        }
    }

    /**
     * Reads a header token by token, so that a hostile header cannot exhaust memory. Anything outside the format is an error, so
     * nesting is at most three.
     */
    private static final class Parser {
        private static final int MAX_NAMES = 100_000;
        private static final int MAX_TEXT_LENGTH = 20_000_000;

        /** Without the shared symbol table, which hostile names could fill. */
        private static final JsonFactory READER = JsonFactory.builder()
                .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .streamReadConstraints(StreamReadConstraints.builder()
                        .maxStringLength(MAX_TEXT_LENGTH)
                        .build())
                .build();

        private final Path file;
        private final JsonParser json;
        private final List<Entry> entries = new ArrayList<>();
        private SequencedMap<String, String> metadata = new LinkedHashMap<>();

        Parser(Path file, JsonParser json) {
            this.file = file;
            this.json = json;
        }

        private SafetensorsHeader header() throws TensorFileException {
            json.nextToken();
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = json.getString();
                json.nextToken();
                if (name.equals(METADATA)) {
                    metadata = metadata();
                } else {
                    limit(entries.size(), "tensors");
                    entries.add(entry(name));
                }
            }
            if (json.nextToken() != null) {
                throw fault("expected only spaces after the header's JSON object, found " + token());
            }
            return new SafetensorsHeader(entries, metadata);
        }

        private SequencedMap<String, String> metadata() throws TensorFileException {
            expect(JsonToken.START_OBJECT, "an object as " + METADATA);
            SequencedMap<String, String> texts = new LinkedHashMap<>();
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String key = json.getString();
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
                    case "dtype" -> type = type(tensor);
                    case "shape" -> sizes = numbers("shape of " + tensor, StoredTensor.MAX_RANK);
                    case "data_offsets" -> offsets = numbers("data_offsets of " + tensor, 2);
                    default ->
                        throw fault(
                                tensor + ": expected dtype, shape and data_offsets, found " + QuotedText.text(field));
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
                            .formatted(
                                    tensor, type, shape, expected, offsets[1] - offsets[0], Arrays.toString(offsets)));
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
            return type.orElseThrow(() -> fault(tensor + ": the type " + QuotedText.text(found)
                    + " is not supported; supported are " + DType.names()));
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
}
