package org.gramian.tensor.file;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.gramian.tensor.file.SafetensorsHeader.Entry;

/**
 * Reads and writes safetensors files: named tensors and a text-to-text metadata map.
 *
 * <pre>
 * bytes 0 … 7      n, the length of the header: unsigned, little-endian, at most 100,000,000
 * bytes 8 … 8+n    the header: a JSON object in UTF-8, padded with spaces
 *                  {"__metadata__": {"key": "text", …},
 *                   "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …}
 * bytes 8+n …      the data, row-major and little-endian; offsets count from here, in bytes,
 *                  and the tensors cover it all, without overlaps or holes
 * </pre>
 *
 * <p>Element types are those of {@link org.gramian.tensor.DType}. Beyond the format's own rules, a header may hold at
 * most 100,000 tensors, 64 dimensions for each, 50,000 characters in a name, 100,000 metadata and 20,000,000 characters
 * in the text of one.
 *
 * @see <a href="https://huggingface.co/docs/safetensors/index#format">the format</a>
 */
public final class Safetensors {
    private static final int MAX_HEADER_BYTES = 100_000_000;

    private Safetensors() {}

    /**
     * Maps a file; its tensors live as long as the arena, and must not be written to.
     *
     * <p>The file may be replaced by {@link #write} meanwhile. If it is shortened in place, access to the lost part fails
     * with an {@link InternalError}.
     *
     * @throws TensorFileException if the file cannot be read or is not a correct safetensors file
     */
    public static TensorFile read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            int length = headerLength(file);
            byte[] bytes = file.read(Long.BYTES, length, "the header").array();
            SafetensorsHeader header = SafetensorsHeader.parse(path, bytes);
            long dataStart = Long.BYTES + (long) length;
            List<Entry> entries = header.inOrderOfData(path, file.size() - dataStart);
            MemorySegment data = file.map(dataStart, arena);
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            for (Entry entry : entries) {
                MemorySegment slice = data.asSlice(entry.begin(), entry.end() - entry.begin());
                tensors.put(entry.name(), new StoredTensor(entry.type(), entry.shape(), slice));
            }
            return new TensorFile(path, tensors, header.metadata());
        }
    }

    /**
     * Writes a file, or replaces it, in one atomic step.
     *
     * <p>The bytes depend on names, tensors and metadata alone, not on the order of the maps: metadata is sorted by
     * key, tensors by type (the widest first, so that all are aligned) and then by name. Apart from the order of
     * metadata this is byte for byte what the reference implementation writes.
     *
     * @throws TensorFileException if the file cannot be written, or a name or the whole header exceeds what
     *     {@link #read} accepts
     */
    public static void write(Path path, Map<String, StoredTensor> tensors, Map<String, String> metadata)
            throws TensorFileException {
        SafetensorsHeader header = SafetensorsHeader.of(tensors, metadata);
        byte[] json = header.encode(path);
        if (json.length > MAX_HEADER_BYTES) {
            throw new TensorFileException(
                    path,
                    "cannot be written: expected a header of at most %d bytes, found %d"
                            .formatted(MAX_HEADER_BYTES, json.length));
        }
        // the parser checks names and limits: no file is written that cannot be read
        SafetensorsHeader.parse(path, json);
        byte[] start = ByteBuffer.allocate(Long.BYTES + json.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(json.length)
                .put(json)
                .array();
        OutputFile.write(
                path,
                start,
                header.entries().stream()
                        .map(entry -> tensors.get(entry.name()))
                        .toList());
    }

    private static int headerLength(InputFile file) throws TensorFileException {
        long length = file.read(0, Long.BYTES, "the header's length").getLong();
        long rest = file.size() - Long.BYTES;
        if (Long.compareUnsigned(length, MAX_HEADER_BYTES) > 0) {
            throw new TensorFileException(
                    file.path(),
                    "expected a header of at most %d bytes, found a length of %s; is this a safetensors file?"
                            .formatted(MAX_HEADER_BYTES, Long.toUnsignedString(length)));
        }
        if (length > rest) {
            throw new TensorFileException(
                    file.path(),
                    "expected a header of %d bytes, found the end of the file after %d; is the file truncated?"
                            .formatted(length, rest));
        }
        return (int) length;
    }
}
