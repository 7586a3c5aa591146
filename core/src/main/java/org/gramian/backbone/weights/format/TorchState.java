package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import org.gramian.backbone.weights.format.PickledValue.Dictionary;
import org.gramian.backbone.weights.format.PickledValue.Row;
import org.gramian.backbone.weights.format.PickledValue.Storage;
import org.gramian.backbone.weights.format.PickledValue.Text;
import org.gramian.backbone.weights.format.PickledValue.Truth;
import org.gramian.backbone.weights.format.PickledValue.View;
import org.gramian.backbone.weights.format.PickledValue.Whole;
import org.gramian.backbone.weights.format.WeightFile.Format;
import org.gramian.basis.NameList;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * State dictionary in a pickled object, unwrapped from a checkpoint and without the prefix of a wrapper module; {@link
 * TorchZip} and {@link TorchLegacy} read the two file formats of {@code torch.save}.
 *
 * @param file for messages
 * @param memory bytes of a storage
 */
record TorchState(Path file, Memory memory) {
    private static final List<String> WRAPPERS = List.of("state_dict", "model_state_dict", "model");
    private static final int MAX_WRAPPERS = 4;
    private static final String PARALLEL = "module.";

    /** Finds the bytes of a storage. */
    @FunctionalInterface
    interface Memory {
        MemorySegment of(Storage storage) throws TensorFileException;
    }

    /** Returns all tensors in the order of the object. */
    WeightFile read(PickledValue object, Format format, Arena arena) throws TensorFileException {
        List<String> remarks = new ArrayList<>();
        SequencedMap<String, View> views = views(unwrapped(object, remarks), remarks);
        boolean parallel = !views.isEmpty() && views.keySet().stream().allMatch(name -> name.startsWith(PARALLEL));
        if (parallel) {
            remarks.add("the names' prefix '" + PARALLEL + "' was removed");
        }
        SequencedMap<String, StoredTensor> tensors = new LinkedHashMap<>();
        long copied = 0;
        for (Map.Entry<String, View> entry : views.entrySet()) {
            View view = entry.getValue();
            MemorySegment bytes = memory.of(view.storage());
            if (!view.layout().isRowMajor()) {
                copied +=
                        view.layout().shape().elements() * view.storage().type().bytes();
                requireBounded(copied);
            }
            StoredTensor tensor = view.layout().take(view.storage().type(), bytes, arena);
            tensors.put(parallel ? entry.getKey().substring(PARALLEL.length()) : entry.getKey(), tensor);
        }
        return new WeightFile(new TensorFile(file, tensors, new LinkedHashMap<>()), format, remarks);
    }

    private Dictionary unwrapped(PickledValue object, List<String> remarks) throws TensorFileException {
        PickledValue inner = object;
        for (int depth = 0; depth < MAX_WRAPPERS && inner instanceof Dictionary dictionary; depth++) {
            String wrapper = WRAPPERS.stream()
                    .filter(key -> dictionary.entries().get(new Text(key)) instanceof Dictionary)
                    .findFirst()
                    .orElse(null);
            if (wrapper == null) {
                return dictionary;
            }
            if (dictionary.entries().size() > 1) {
                remarks.add("only the entry '" + wrapper + "' of the checkpoint was read");
            }
            inner = Objects.requireNonNull(dictionary.entries().get(new Text(wrapper)));
        }
        throw new TensorFileException(
                file, "expected a state dictionary of names and tensors, found no dictionary, or too many nested ones");
    }

    private SequencedMap<String, View> views(Dictionary dictionary, List<String> remarks) throws TensorFileException {
        SequencedMap<String, View> views = new LinkedHashMap<>();
        List<String> others = new ArrayList<>();
        for (Map.Entry<PickledValue, PickledValue> entry : dictionary.entries().entrySet()) {
            String name = entry.getKey() instanceof Text(String text) ? text : "a key that is not text";
            if (entry.getKey() instanceof Text && entry.getValue() instanceof View view) {
                views.put(name, view);
            } else {
                others.add(QuotedText.text(name));
            }
        }
        if (views.isEmpty()) {
            throw new TensorFileException(
                    file,
                    "expected a state dictionary of names and tensors, found no tensor among " + others.size()
                            + " entries" + (others.isEmpty() ? "" : ", the first of them " + others.getFirst()));
        }
        if (!others.isEmpty()) {
            remarks.add("entries that are not tensors were skipped: " + NameList.some(others));
        }
        return views;
    }

    /** Views that share memory could make copies of any size from a small file. */
    private void requireBounded(long copied) throws TensorFileException {
        long size = file.toFile().length();
        if (copied > FileLimits.unpacked(size)) {
            throw new TensorFileException(
                    file, "its transposed tensors would take " + copied + " bytes, far more than the file's " + size);
        }
    }

    /**
     * PyTorch's zip format: {@code NAME/data.pkl} is a pickle that refers to the storages {@code NAME/data/0},
     * {@code NAME/data/1}, …, whose bytes lie uncompressed in the archive; {@code NAME/byteorder}, if present, states
     * {@code little}.
     *
     * @see <a href="https://docs.pytorch.org/docs/stable/notes/serialization.html">the format</a>
     */
    static final class TorchZip {
        private static final String PICKLE = "/data.pkl";

        private TorchZip() {}

        static WeightFile read(Path path, Arena arena) throws TensorFileException {
            MemorySegment bytes;
            try (InputFile file = InputFile.open(path)) {
                bytes = file.map(0, arena);
            }
            ZipDirectory zip = ZipDirectory.read(path, bytes);
            String folder = folder(zip, path);
            requireLittleEndian(zip, folder + "/byteorder", arena);
            ZipDirectory.Entry pickle = zip.get(folder + PICKLE);
            if (pickle.size() > FileLimits.PICKLE_BYTES) {
                throw new TensorFileException(
                        path,
                        "expected a pickle of at most %d bytes, found %d"
                                .formatted(FileLimits.PICKLE_BYTES, pickle.size()));
            }
            PickleFunctions functions = new PickleFunctions(path);
            PickledValue object =
                    PickleReader.read(path, zip.content(pickle, arena).asByteBuffer(), functions);
            Map<Storage, MemorySegment> storages = new HashMap<>();
            TorchState state = new TorchState(path, storage -> {
                MemorySegment memory = storages.get(storage);
                if (memory == null) {
                    memory = memory(zip, folder, storage, arena);
                    storages.put(storage, memory);
                }
                return memory;
            });
            return state.read(object, Format.TORCH_ZIP, arena);
        }

        private static String folder(ZipDirectory zip, Path path) throws TensorFileException {
            List<String> folders = zip.names().stream()
                    .filter(name -> name.endsWith(PICKLE))
                    .map(name -> name.substring(0, name.length() - PICKLE.length()))
                    .filter(name -> name.indexOf('/') < 0)
                    .toList();
            if (folders.size() != 1) {
                throw new TensorFileException(
                        path,
                        "expected a zip archive that torch.save wrote, with one entry NAME/data.pkl, found "
                                + (folders.isEmpty() ? "none" : folders.size()));
            }
            return folders.getFirst();
        }

        private static void requireLittleEndian(ZipDirectory zip, String entry, Arena arena)
                throws TensorFileException {
            if (zip.names().contains(entry)) {
                byte[] order = zip.content(zip.get(entry), arena).toArray(ValueLayout.JAVA_BYTE);
                String text = new String(order, StandardCharsets.US_ASCII).strip();
                if (!text.equals("little")) {
                    throw zip.fault("expected the byte order 'little', found " + QuotedText.text(text));
                }
            }
        }

        private static MemorySegment memory(ZipDirectory zip, String folder, Storage storage, Arena arena)
                throws TensorFileException {
            ZipDirectory.Entry entry = zip.get(folder + "/data/" + storage.key());
            int width = storage.type().bytes();
            if (entry.size() % width != 0 || entry.size() / width != storage.elements()) {
                throw zip.fault("expected %d elements of %s in %s, found %d bytes"
                        .formatted(storage.elements(), storage.type(), QuotedText.text(entry.name()), entry.size()));
            }
            return zip.content(entry, arena);
        }
    }

    /**
     * PyTorch's format before 1.6: five pickles in a row (a magic number, the version 1001, facts about the
     * machine, the object, and the keys of its storages), then for each key the number of elements in eight bytes, and
     * the elements.
     */
    static final class TorchLegacy {
        /** Start of the pickle of the magic number: an integer of ten bytes. */
        static final byte[] MAGIC_OPCODES = {
            (byte) 0x8a, 10, 0x6c, (byte) 0xfc, (byte) 0x9c, 0x46, (byte) 0xf9, 0x20, 0x6a, (byte) 0xa8, 0x50, 0x19
        };

        private static final BigInteger MAGIC = new BigInteger("1950a86a20f9469cfc6c", 16);
        private static final BigInteger VERSION = BigInteger.valueOf(1001);
        private static final ValueLayout.OfLong COUNT =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        private final Path path;
        private final MemorySegment bytes;
        private final ByteBuffer pickles;

        private TorchLegacy(Path path, MemorySegment bytes) {
            this.path = path;
            this.bytes = bytes;
            this.pickles = bytes.asSlice(0, Math.min(bytes.byteSize(), FileLimits.PICKLE_BYTES))
                    .asByteBuffer();
        }

        static WeightFile read(Path path, Arena arena) throws TensorFileException {
            try (InputFile file = InputFile.open(path)) {
                return new TorchLegacy(path, file.map(0, arena)).read(arena);
            }
        }

        private WeightFile read(Arena arena) throws TensorFileException {
            requireHeader();
            PickleFunctions functions = new PickleFunctions(path);
            PickledValue object = PickleReader.read(path, pickles, functions);
            PickledValue keys = PickleReader.read(path, pickles, new PickleFunctions(path));
            if (!(keys instanceof Row(List<PickledValue> items)) || items.size() > FileLimits.ENTRIES) {
                throw fault("expected a list of at most " + FileLimits.ENTRIES + " storages, found something else");
            }
            Map<Storage, MemorySegment> storages = storages(items, functions.storages());
            TorchState state = new TorchState(path, storage -> {
                MemorySegment memory = storages.get(storage);
                if (memory == null) {
                    throw fault("expected storage " + QuotedText.text(storage.key()) + " in the file, found none");
                }
                return memory;
            });
            return state.read(object, Format.TORCH_LEGACY, arena);
        }

        private void requireHeader() throws TensorFileException {
            PickleFunctions none = new PickleFunctions(path);
            PickledValue magic = PickleReader.read(path, pickles, none);
            PickledValue version = PickleReader.read(path, pickles, none);
            PickledValue machine = PickleReader.read(path, pickles, none);
            if (!magic.equals(new Whole(MAGIC)) || !version.equals(new Whole(VERSION))) {
                throw fault("expected PyTorch's magic number and format version 1001, found others");
            }
            if (!(machine instanceof Dictionary facts)
                    || !new Truth(true).equals(facts.entries().get(new Text("little_endian")))) {
                throw fault("expected a little-endian file, found another; save it again on a little-endian machine");
            }
        }

        private Map<Storage, MemorySegment> storages(List<PickledValue> keys, Map<String, Storage> described)
                throws TensorFileException {
            Map<Storage, MemorySegment> storages = new HashMap<>();
            long position = pickles.position();
            for (PickledValue key : keys) {
                if (!(key instanceof Text(String text)) || !described.containsKey(text)) {
                    throw fault("the list of storages names one that no tensor describes");
                }
                Storage storage = Objects.requireNonNull(described.get(text));
                position = place(storage, position, storages);
            }
            if (position != bytes.byteSize()) {
                throw fault("has trailing bytes: the storages end at byte %d, the file at %d"
                        .formatted(position, bytes.byteSize()));
            }
            return storages;
        }

        private long place(Storage storage, long position, Map<Storage, MemorySegment> storages)
                throws TensorFileException {
            long left = bytes.byteSize() - position - Long.BYTES;
            if (left < 0 || storage.elements() > left / storage.type().bytes()) {
                throw fault("is truncated: expected %d elements of %s in storage %s, found %d bytes"
                        .formatted(
                                storage.elements(), storage.type(), QuotedText.text(storage.key()), Math.max(0, left)));
            }
            long count = bytes.get(COUNT, position);
            if (count != storage.elements()) {
                throw fault("expected %d elements in storage %s, found %d"
                        .formatted(storage.elements(), QuotedText.text(storage.key()), count));
            }
            long size = count * storage.type().bytes();
            if (storages.put(storage, bytes.asSlice(position + Long.BYTES, size)) != null) {
                throw fault("expected every storage once, found " + QuotedText.text(storage.key()) + " twice");
            }
            return position + Long.BYTES + size;
        }

        private TensorFileException fault(String problem) {
            return new TensorFileException(path, problem);
        }
    }
}
