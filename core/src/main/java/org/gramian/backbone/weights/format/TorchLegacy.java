package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.gramian.backbone.weights.format.PickledValue.Dictionary;
import org.gramian.backbone.weights.format.PickledValue.Row;
import org.gramian.backbone.weights.format.PickledValue.Storage;
import org.gramian.backbone.weights.format.PickledValue.Text;
import org.gramian.backbone.weights.format.PickledValue.Truth;
import org.gramian.backbone.weights.format.PickledValue.Whole;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Reads PyTorch's format of before 1.6: five pickles in a row (a magic number, the version 1001, facts about the
 * machine, the object, and the keys of its storages), then for each key the number of elements in eight bytes, and the
 * elements.
 */
final class TorchLegacy {
    /** The magic number as its pickle begins: a whole number of ten bytes. */
    static final byte[] MAGIC_OPCODES = {
        (byte) 0x8a, 10, 0x6c, (byte) 0xfc, (byte) 0x9c, 0x46, (byte) 0xf9, 0x20, 0x6a, (byte) 0xa8, 0x50, 0x19
    };

    private static final BigInteger MAGIC = new BigInteger("1950a86a20f9469cfc6c", 16);
    private static final BigInteger VERSION = BigInteger.valueOf(1001);
    private static final ValueLayout.OfLong COUNT = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

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
        return state.read(object, WeightFormat.TORCH_LEGACY, arena);
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
                    .formatted(storage.elements(), storage.type(), QuotedText.text(storage.key()), Math.max(0, left)));
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
