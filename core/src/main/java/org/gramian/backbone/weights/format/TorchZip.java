package org.gramian.backbone.weights.format;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.gramian.backbone.weights.format.PickledValue.Storage;
import org.gramian.basis.QuotedText;
import org.gramian.tensor.file.InputFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * Reads PyTorch's zip format: {@code NAME/data.pkl} is a pickle that refers to the storages {@code NAME/data/0},
 * {@code NAME/data/1}, …, whose bytes lie uncompressed in the archive; {@code NAME/byteorder}, if present, states
 * {@code little}.
 *
 * @see <a href="https://docs.pytorch.org/docs/stable/notes/serialization.html">the format</a>
 */
final class TorchZip {
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
        PickledValue object = PickleReader.read(path, zip.content(pickle, arena).asByteBuffer(), functions);
        Map<Storage, MemorySegment> storages = new HashMap<>();
        TorchState state = new TorchState(path, storage -> {
            MemorySegment memory = storages.get(storage);
            if (memory == null) {
                memory = memory(zip, folder, storage, arena);
                storages.put(storage, memory);
            }
            return memory;
        });
        return state.read(object, WeightFormat.TORCH_ZIP, arena);
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

    private static void requireLittleEndian(ZipDirectory zip, String entry, Arena arena) throws TensorFileException {
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
