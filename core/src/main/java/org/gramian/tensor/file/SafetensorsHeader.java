package org.gramian.tensor.file;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonEncoding;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/** The header of a safetensors file: which tensor lies where, and the metadata. */
record SafetensorsHeader(List<Entry> entries, SequencedMap<String, String> metadata) {
    /** The header's key that is not the name of a tensor. */
    static final String METADATA = "__metadata__";

    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
            .build();

    /** By code points, as the reference implementation compares names; {@code compareTo} goes by UTF-16 units. */
    private static final Comparator<String> BY_CODE_POINT =
            Comparator.comparing(text -> text.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** One tensor: its data are the bytes from {@code begin} to before {@code end}, counted from the header's end. */
    record Entry(String name, DType type, Shape shape, long begin, long end) {}

    SafetensorsHeader {
        entries = List.copyOf(entries);
        metadata = Collections.unmodifiableSequencedMap(metadata);
    }

    /** The header of a file yet to be written. */
    static SafetensorsHeader of(Map<String, StoredTensor> tensors, Map<String, String> metadata) {
        if (tensors.containsKey(METADATA)) {
            throw new IllegalArgumentException("expected names of tensors, found the reserved name " + METADATA);
        }
        List<Map.Entry<String, StoredTensor>> sorted = new ArrayList<>(tensors.entrySet());
        sorted.sort(Comparator.comparingInt((Map.Entry<String, StoredTensor> tensor) ->
                        placeOf(tensor.getValue().type()))
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

    /** The order of types in the data, the reference implementation's: none is followed by a wider one. */
    private static int placeOf(DType type) {
        return switch (type) {
            case I64 -> 0;
            case F64 -> 1;
            case F32 -> 2;
            case I32 -> 3;
            case BF16 -> 4;
            case F16 -> 5;
            case U8 -> 6;
            case BOOL -> 7;
        };
    }

    /** As JSON, padded with spaces so that the data after it begins at a multiple of eight. */
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

    /** The entries sorted by offset, once it is certain that they cover all of the data without overlaps or holes. */
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
}
