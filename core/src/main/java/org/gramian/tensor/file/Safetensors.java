package org.gramian.tensor.file;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.gramian.basis.Sha256;
import org.gramian.tensor.file.SafetensorsHeader.Entry;
import org.jspecify.annotations.Nullable;

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
    private static final ValueLayout.OfLong LENGTH = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Safetensors() {}

    /**
     * Reads a file into memory that lives as long as the arena, and verifies its checksums if it has any.
     *
     * <p>The file is not mapped: if another program shortened a mapped file in place, native code that reads the lost part would
     * end the process.
     *
     * @throws TensorFileException if the file cannot be read, is not a correct safetensors file, or is damaged
     */
    public static TensorFile read(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            Start start = start(file);
            return verified(path, start, file.load(start.bytes, arena));
        }
    }

    /**
     * Reads names, types, shapes and metadata of a file, and verifies the checksum of its header if it has one. The data is mapped,
     * not read: use {@link #read} to access it.
     *
     * @throws TensorFileException if the file cannot be read, or its header is not correct or damaged
     */
    public static TensorFile header(Path path, Arena arena) throws TensorFileException {
        try (InputFile file = InputFile.open(path)) {
            Start start = start(file);
            return content(path, start, file.map(start.bytes, arena));
        }
    }

    /**
     * Reads a file that is in memory; its tensors are slices of it.
     *
     * @throws TensorFileException if it is not a correct safetensors file, or a checksum in it does not match
     */
    public static TensorFile read(Path path, MemorySegment content) throws TensorFileException {
        if (content.byteSize() < Long.BYTES) {
            throw new TensorFileException(path, "expected a safetensors file, found " + content.byteSize() + " bytes");
        }
        int length = headerLength(path, content.get(LENGTH, 0), content.byteSize());
        byte[] header = content.asSlice(0, Long.BYTES + (long) length).toArray(ValueLayout.JAVA_BYTE);
        Start start = start(path, header, content.byteSize());
        return verified(path, start, content.asSlice(start.bytes).asReadOnly());
    }

    /**
     * What stands before the data.
     *
     * @param entries in the order of the data
     * @param checked whether the file has checksums
     */
    private record Start(SafetensorsHeader header, List<Entry> entries, long bytes, boolean checked) {}

    private static Start start(InputFile file) throws TensorFileException {
        long stated = file.read(0, Long.BYTES, "the header's length").getLong();
        int length = headerLength(file.path(), stated, file.size());
        return start(
                file.path(), file.read(0, Long.BYTES + length, "the header").array(), file.size());
    }

    private static Start start(Path path, byte[] start, long size) throws TensorFileException {
        SafetensorsHeader header = SafetensorsHeader.parse(path, Arrays.copyOfRange(start, Long.BYTES, start.length));
        boolean checked = Checksum.verifyHeader(path, start, header.metadata());
        return new Start(header, header.inOrderOfData(path, size - start.length), start.length, checked);
    }

    private static TensorFile verified(Path path, Start start, MemorySegment data) throws TensorFileException {
        if (start.checked) {
            String stated = String.valueOf(start.header.metadata().get(Checksum.DATA));
            Checksum.require(path, "data", stated, Checksum.ofData(List.of(data)));
        }
        return content(path, start, data);
    }

    private static TensorFile content(Path path, Start start, MemorySegment data) {
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        for (Entry entry : start.entries) {
            MemorySegment slice = data.asSlice(entry.begin(), entry.end() - entry.begin());
            tensors.put(entry.name(), new StoredTensor(entry.type(), entry.shape(), slice));
        }
        SequencedMap<String, String> metadata = new LinkedHashMap<>(start.header.metadata());
        if (start.checked) {
            metadata.remove(Checksum.DATA);
            metadata.remove(Checksum.HEADER);
        }
        return new TensorFile(path, tensors, metadata, start.checked);
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
        write(path, tensors, SafetensorsHeader.of(tensors, metadata), false);
    }

    /**
     * Writes a file as {@link #write}, with checksums that {@link #read} verifies: SHA-256 of data and header, as the metadata
     * {@code sha256_data} and {@code sha256_header}.
     *
     * @throws TensorFileException as {@link #write}
     */
    public static void writeChecked(Path path, Map<String, StoredTensor> tensors, Map<String, String> metadata)
            throws TensorFileException {
        List<MemorySegment> data = stored(SafetensorsHeader.of(tensors, metadata), tensors).stream()
                .map(StoredTensor::data)
                .toList();
        Map<String, String> extended = new LinkedHashMap<>(metadata);
        extended.put(Checksum.DATA, Checksum.ofData(data));
        extended.put(Checksum.HEADER, Checksum.UNKNOWN);
        write(path, tensors, SafetensorsHeader.of(tensors, extended), true);
    }

    private static List<StoredTensor> stored(SafetensorsHeader header, Map<String, StoredTensor> tensors) {
        return header.entries().stream().map(entry -> tensors.get(entry.name())).toList();
    }

    private static void write(Path path, Map<String, StoredTensor> tensors, SafetensorsHeader header, boolean checked)
            throws TensorFileException {
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
        if (checked) {
            Checksum.seal(start);
        }
        StoredTensor.write(path, start, stored(header, tensors));
    }

    private static int headerLength(Path path, long length, long size) throws TensorFileException {
        long rest = size - Long.BYTES;
        if (Long.compareUnsigned(length, MAX_HEADER_BYTES) > 0) {
            throw new TensorFileException(
                    path,
                    "is no safetensors file: its first 8 bytes state a header of %s bytes"
                            .formatted(Long.toUnsignedString(length)));
        }
        if (length > rest) {
            throw new TensorFileException(
                    path,
                    "expected a header of %d bytes, found the end of the file after %d; is the file truncated?"
                            .formatted(length, rest));
        }
        return (int) length;
    }

    /**
     * Checksums of a safetensors file, as two entries of its metadata:
     *
     * <pre>
     * sha256_data     SHA-256 of the SHA-256 of each MiB of the data, so that all cores can compute it
     * sha256_header   SHA-256 of everything before the data, with 64 zeros in place of this checksum
     * </pre>
     *
     * <p>Together they cover every bit of the file; the header, with names and classes, is verified without reading the data.
     */
    static final class Checksum {
        static final String DATA = "sha256_data";
        static final String HEADER = "sha256_header";

        /** In place of the header's checksum while it is computed. */
        static final String UNKNOWN = "0".repeat(64);

        private static final int PIECE = 1 << 20;
        private static final int MAX_PENDING = 2 * Runtime.getRuntime().availableProcessors();

        /** Threads of their own: tasks of others, such as Spark's, may occupy the common pool for as long as they wait. */
        private static final Executor EXECUTOR =
                task -> Thread.ofPlatform().daemon().name("gramian-checksum").start(task);

        private static final String ADVICE = "; the file is damaged: copy it again, or restore it from a backup";

        /** Puts the header's checksum in its place. */
        static void seal(byte[] start) {
            int at = place(start);
            byte[] hex = Sha256.hex(Sha256.of(start)).getBytes(StandardCharsets.US_ASCII);
            System.arraycopy(hex, 0, start, at, hex.length);
        }

        /** Returns the position of the header's checksum, or −1: quotes inside of other texts are escaped. */
        private static int place(byte[] start) {
            byte[] key = ("\"" + HEADER + "\":\"").getBytes(StandardCharsets.US_ASCII);
            for (int at = 0; at <= start.length - key.length - UNKNOWN.length(); at++) {
                if (Arrays.equals(start, at, at + key.length, key, 0, key.length)) {
                    return at + key.length;
                }
            }
            return -1;
        }

        /**
         * Verifies the header.
         *
         * @param start everything before the data; the checksum in it is overwritten
         * @return whether the file has checksums
         * @throws TensorFileException if the header is damaged
         */
        static boolean verifyHeader(Path file, byte[] start, Map<String, String> metadata) throws TensorFileException {
            @Nullable String header = metadata.get(HEADER);
            if (header == null && !metadata.containsKey(DATA)) {
                return false;
            }
            int at = place(start);
            if (header == null || !metadata.containsKey(DATA) || at < 0) {
                throw new TensorFileException(
                        file, "expected the checksums " + DATA + " and " + HEADER + ", found only one" + ADVICE);
            }
            System.arraycopy(UNKNOWN.getBytes(StandardCharsets.US_ASCII), 0, start, at, UNKNOWN.length());
            require(file, "header", header, Sha256.hex(Sha256.of(start)));
            return true;
        }

        private static void require(Path file, String part, String expected, String found) throws TensorFileException {
            if (!expected.equals(found)) {
                throw new TensorFileException(
                        file, "expected the SHA-256 " + expected + " of its " + part + ", found " + found + ADVICE);
            }
        }

        /** Returns the checksum of data in several parts; pieces are hashed by several threads. */
        static String ofData(List<MemorySegment> parts) {
            MessageDigest hashes = Sha256.digest();
            Queue<CompletableFuture<byte[]>> pending = new ArrayDeque<>();
            byte[] piece = new byte[PIECE];
            int filled = 0;
            for (MemorySegment part : parts) {
                for (long from = 0; from < part.byteSize(); ) {
                    int count = (int) Math.min(PIECE - filled, part.byteSize() - from);
                    MemorySegment.copy(part, from, MemorySegment.ofArray(piece), filled, count);
                    filled += count;
                    from += count;
                    if (filled == PIECE) {
                        pending.add(hash(piece));
                        piece = new byte[PIECE];
                        filled = 0;
                    }
                    if (pending.size() > MAX_PENDING) {
                        hashes.update(pending.remove().join());
                    }
                }
            }
            if (filled > 0) {
                pending.add(hash(Arrays.copyOf(piece, filled)));
            }
            pending.forEach(hash -> hashes.update(hash.join()));
            return Sha256.hex(hashes.digest());
        }

        private static CompletableFuture<byte[]> hash(byte[] piece) {
            return CompletableFuture.supplyAsync(() -> Sha256.of(piece), EXECUTOR);
        }
    }
}
