package org.gramian.backbone.weights.format;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.gramian.backbone.weights.format.PickleReader.Storage;
import org.gramian.backbone.weights.format.PickleReader.View;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/** Reader of weight files of any format, which keeps the names and layout of the file. */
public final class WeightFile {
    private static final String EXPORT =
            "export the network to ONNX and run 'gramian weights import NAME FILE.onnx', or save its tensors as"
                    + " safetensors";
    private static final int START_BYTES = 265;
    private static final long MAX_SAFETENSORS_HEADER = 100_000_000;
    private static final byte[] ZIP = {'P', 'K', 3, 4};
    private static final byte[] HDF5 = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    private static final byte[] PICKLE = {(byte) 0x80};
    private static final byte[] TAR = "ustar".getBytes(StandardCharsets.US_ASCII);
    private static final int TAR_OFFSET = 257;

    private WeightFile() {}

    /**
     * Reads a file whose format is detected from its content; the tensors live as long as the arena.
     *
     * @param remarks takes notes on skipped or changed content, one sentence each
     */
    public static TensorFile read(Path path, Arena arena, Consumer<String> remarks) throws TensorFileException {
        ByteBuffer start;
        try (InputFile file = InputFile.open(path)) {
            start = file.read(0, (int) Math.min(START_BYTES, file.size()), "the first bytes");
        }
        try {
            if (startsWith(start, 0, ZIP)) {
                return TorchFile.read(path, arena, remarks);
            }
            requireSafetensors(path, start);
            return Safetensors.read(path, arena);
        } catch (OutOfMemoryError e) {
            throw new TensorFileException(
                    path,
                    "needs more memory than the Java heap of %d MiB; retry with GRAMIAN_JAVA_OPTS=-Xmx… of twice as much"
                            .formatted(Runtime.getRuntime().maxMemory() >> 20),
                    e);
        }
    }

    private static void requireSafetensors(Path path, ByteBuffer start) throws TensorFileException {
        if (startsWith(start, 0, HDF5)) {
            throw new TensorFileException(path, "is an HDF5 file, as Keras writes; " + EXPORT);
        }
        if (path.toString().endsWith(".caffemodel")) {
            throw new TensorFileException(path, "is a Caffe network; " + EXPORT);
        }
        if (start.limit() > Long.BYTES
                && start.get(Long.BYTES) == '{'
                && Long.compareUnsigned(start.getLong(0), MAX_SAFETENSORS_HEADER) <= 0) {
            return;
        }
        boolean pickle = startsWith(start, 0, PICKLE);
        if (pickle || startsWith(start, TAR_OFFSET, TAR)) {
            throw new TensorFileException(
                    path,
                    "expected the zip format of torch.save, found " + (pickle ? "a pickle" : "a tar archive")
                            + ", as torch before 1.6 wrote; re-save it with a current torch:"
                            + " torch.save(torch.load(FILE), NEW_FILE)");
        }
        byte[] first = new byte[Math.min(Long.BYTES, start.limit())];
        start.get(0, first);
        throw new TensorFileException(
                path,
                "expected weights in safetensors or PyTorch's .pth, or a network in ONNX, found "
                        + (first.length == 0
                                ? "an empty file"
                                : "bytes " + HexFormat.ofDelimiter(" ").formatHex(first)));
    }

    private static boolean startsWith(ByteBuffer start, int offset, byte[] magic) {
        return start.limit() >= offset + magic.length
                && start.slice(offset, magic.length).equals(ByteBuffer.wrap(magic));
    }

    /**
     * State dictionary in the zip format of {@code torch.save}, unwrapped from a checkpoint and without the prefix of a wrapper module.
     *
     * <p>{@code NAME/data.pkl} is a pickle that refers to the storages {@code NAME/data/0}, {@code NAME/data/1}, …;
     * {@code NAME/byteorder}, if present, states {@code little}.
     *
     * @see <a href="https://docs.pytorch.org/docs/stable/notes/serialization.html">the format</a>
     */
    static final class TorchFile {
        private static final List<String> WRAPPERS = List.of("state_dict", "model_state_dict", "model");
        private static final int MAX_WRAPPERS = 4;

        /** Prefix of the names that {@code torch.nn.DataParallel} saves. */
        private static final String PARALLEL = "module.";

        private static final String PICKLE_ENTRY = "/data.pkl";
        private static final int CHUNK = 1 << 20;

        /** Largest pickle of a state dictionary, without the data: 100 to 200 bytes for each tensor. */
        static final int MAX_PICKLE_BYTES = 16 << 20;

        private static final int MAX_ENTRIES = 100_000;

        /** Small files may unpack to this many bytes, larger ones to this multiple of their size: weights hardly compress. */
        private static final long SMALL_BYTES = 64L << 20;

        private static final long MAX_RATIO = 16;

        private final Path file;
        private final ZipFile zip;
        private final Arena arena;
        /** Bytes that may still be allocated: entries that share their packed bytes could grow a small file to any size. */
        private long allowance;

        private final long limit;
        private final Map<Storage, MemorySegment> storages = new HashMap<>();

        private TorchFile(Path file, ZipFile zip, Arena arena) {
            this.file = file;
            this.zip = zip;
            this.arena = arena;
            this.limit = maxUnpacked(file.toFile().length());
            this.allowance = limit;
        }

        /** Returns all tensors in the order of the pickle. */
        static TensorFile read(Path path, Arena arena, Consumer<String> remarks) throws TensorFileException {
            try (ZipFile zip = new ZipFile(path.toFile())) {
                return new TorchFile(path, zip, arena).read(remarks);
            } catch (IOException e) {
                throw e instanceof TensorFileException known
                        ? known
                        : new TensorFileException(path, "is a damaged or truncated zip archive: " + e.getMessage(), e);
            }
        }

        private TensorFile read(Consumer<String> remarks) throws IOException {
            String folder = folder();
            if (zip.getEntry(folder + "/byteorder") != null) {
                byte[] order = content(folder + "/byteorder").toArray(ValueLayout.JAVA_BYTE);
                String stated = new String(order, StandardCharsets.US_ASCII).strip();
                if (!stated.equals("little")) {
                    throw fault("expected the byte order 'little', found " + QuotedText.text(stated)
                            + "; save it again on a little-endian machine");
                }
            }
            long size = entry(folder + PICKLE_ENTRY).getSize();
            if (size > MAX_PICKLE_BYTES) {
                throw fault("expected a pickle of at most %d bytes, found %d".formatted(MAX_PICKLE_BYTES, size));
            }
            Object object =
                    PickleReader.read(file, content(folder + PICKLE_ENTRY).asByteBuffer());
            SequencedMap<String, View> views = views(unwrapped(object, remarks), remarks);
            boolean parallel = !views.isEmpty() && views.keySet().stream().allMatch(name -> name.startsWith(PARALLEL));
            if (parallel) {
                remarks.accept("the names' prefix '" + PARALLEL + "' was removed");
            }
            SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
            for (Map.Entry<String, View> entry : views.entrySet()) {
                tensors.put(
                        parallel ? entry.getKey().substring(PARALLEL.length()) : entry.getKey(),
                        tensor(entry.getValue(), folder));
            }
            return new TensorFile(file, tensors, new LinkedHashMap<>());
        }

        private StoredTensor tensor(View view, String folder) throws IOException {
            Storage storage = view.storage();
            MemorySegment bytes = storages.get(storage);
            int width = storage.type().bytes();
            if (bytes == null) {
                String name = folder + "/data/" + storage.key();
                long size = entry(name).getSize();
                if (size % width != 0 || size / width != storage.elements()) {
                    throw fault("expected %d elements of %s in %s, found %d bytes"
                            .formatted(storage.elements(), storage.type(), QuotedText.text(name), size));
                }
                bytes = content(name);
                storages.put(storage, bytes);
            }
            if (!view.layout().isRowMajor()) {
                // Views that share memory could make copies of any size from a small file.
                allocate("its transposed tensors", view.layout().shape().elements() * width);
            }
            return view.layout().take(storage.type(), bytes, arena);
        }

        private static long maxUnpacked(long packed) {
            return Math.max(SMALL_BYTES, packed > Long.MAX_VALUE / MAX_RATIO ? Long.MAX_VALUE : packed * MAX_RATIO);
        }

        /** Adds bytes to the total of the file, which is bounded. */
        private void allocate(String content, long bytes) throws TensorFileException {
            if (bytes > allowance) {
                throw fault(
                        "with %s, the content would unpack to more than %d bytes, too much for weights of that size: refused"
                                .formatted(content, limit));
            }
            allowance -= bytes;
        }

        private String folder() throws TensorFileException {
            if (zip.size() > MAX_ENTRIES) {
                throw fault("expected at most " + MAX_ENTRIES + " entries in the zip archive, found " + zip.size());
            }
            List<String> folders = zip.stream()
                    .map(ZipEntry::getName)
                    .filter(name -> name.endsWith(PICKLE_ENTRY))
                    .map(name -> name.substring(0, name.length() - PICKLE_ENTRY.length()))
                    .filter(name -> name.indexOf('/') < 0)
                    .toList();
            if (folders.size() != 1) {
                throw fault("expected a zip archive that torch.save wrote, with one entry NAME/data.pkl, found "
                        + (folders.isEmpty() ? "none" : folders.size()));
            }
            return folders.getFirst();
        }

        private ZipEntry entry(String name) throws TensorFileException {
            @Nullable ZipEntry entry = zip.getEntry(name);
            if (entry == null) {
                throw fault("expected an entry " + QuotedText.text(name) + " in the zip archive, found none");
            }
            return entry;
        }

        /** Returns the content of an entry, verified by its checksum. */
        private MemorySegment content(String name) throws IOException {
            ZipEntry entry = entry(name);
            long size = entry.getSize();
            if (size < 0 || size > maxUnpacked(entry.getCompressedSize())) {
                throw fault("%s would unpack from %d to %d bytes, too much for weights: refused"
                        .formatted(QuotedText.text(name), entry.getCompressedSize(), size));
            }
            allocate(QuotedText.text(name), size);
            MemorySegment content = arena.allocate(size, Long.BYTES);
            CRC32 checksum = new CRC32();
            long at = 0;
            try (InputStream in = zip.getInputStream(entry)) {
                for (byte[] part = in.readNBytes(CHUNK); part.length > 0 && at <= size; part = in.readNBytes(CHUNK)) {
                    checksum.update(part);
                    MemorySegment.copy(
                            part, 0, content, ValueLayout.JAVA_BYTE, at, (int) Math.min(part.length, size - at));
                    at += part.length;
                }
            }
            if (at != size || checksum.getValue() != entry.getCrc()) {
                throw fault("is damaged: the content of " + QuotedText.text(name)
                        + " does not match its checksum; download the file again, or save it with checksums");
            }
            return content.asReadOnly();
        }

        private Map<?, ?> unwrapped(Object object, Consumer<String> remarks) throws TensorFileException {
            Object inner = object;
            for (int depth = 0; depth < MAX_WRAPPERS && inner instanceof Map<?, ?> dictionary; depth++) {
                String wrapper = WRAPPERS.stream()
                        .filter(key -> dictionary.get(key) instanceof Map)
                        .findFirst()
                        .orElse(null);
                if (wrapper == null) {
                    return dictionary;
                }
                if (dictionary.size() > 1) {
                    remarks.accept("only the entry '" + wrapper + "' of the checkpoint was read");
                }
                inner = Objects.requireNonNull(dictionary.get(wrapper));
            }
            throw fault("expected a state dictionary of names and tensors, found "
                    + (object instanceof Map ? "more than " + MAX_WRAPPERS + " nested ones" : "no dictionary"));
        }

        private SequencedMap<String, View> views(Map<?, ?> dictionary, Consumer<String> remarks)
                throws TensorFileException {
            SequencedMap<String, View> views = new LinkedHashMap<>();
            List<String> others = new ArrayList<>();
            for (Map.Entry<?, ?> entry : dictionary.entrySet()) {
                String name = entry.getKey() instanceof String text ? text : "a key that is not text";
                if (entry.getKey() instanceof String && entry.getValue() instanceof View view) {
                    views.put(name, view);
                } else {
                    others.add(QuotedText.text(name));
                }
            }
            if (views.isEmpty()) {
                throw fault("expected a state dictionary of names and tensors, found no tensor among " + others.size()
                        + " entries" + (others.isEmpty() ? "" : ", the first of them " + others.getFirst()));
            }
            if (!others.isEmpty()) {
                remarks.accept("entries that are not tensors were skipped: " + QuotedText.some(others));
            }
            return views;
        }

        private TensorFileException fault(String problem) {
            return new TensorFileException(file, problem);
        }
    }
}
