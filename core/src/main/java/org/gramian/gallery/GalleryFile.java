package org.gramian.gallery;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.Sha256;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;

/**
 * A gallery as one safetensors file.
 *
 * <pre>
 * vectors           F16 [n, m]   short descriptors
 * labels            I32 [n]      indexes of classes
 * parts             U8 [n]       0 training, 1 validation, 2 test
 * names             U8 [b]       in UTF-8, one after the other; name_ends I64 [n] are their ends in it
 * thumbnails        U8 [t]       JPEG files, one after the other; thumbnail_ends I64 [n] are their ends in it
 * </pre>
 *
 * <p>What holds for all images is metadata, see {@link GalleryMetadata}. Nothing is believed: every tensor must be there, of
 * its type and shape, with contents that make a {@link Gallery}, and no other.
 */
final class GalleryFile {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final TensorFile file;
    private final int count;

    private GalleryFile(TensorFile file) {
        this.file = file;
        StoredTensor labels = file.tensors().get("labels");
        long found = labels == null || labels.shape().rank() != 1
                ? 0
                : labels.shape().at(0);
        int most = Gallery.MOST_OF_A_PART * Part.values().length;
        if (found > most) {
            throw new IllegalArgumentException("expected at most " + most + " images, found " + found);
        }
        this.count = (int) found;
    }

    static void write(Path path, Gallery gallery) throws GalleryFileException {
        try (Arena arena = Arena.ofConfined()) {
            int n = gallery.items().size();
            int m = gallery.vectorSize();
            MemorySegment vectors = arena.allocate(2L * n * m, Long.BYTES);
            MemorySegment labels = arena.allocate(4L * n, Long.BYTES);
            MemorySegment parts = arena.allocate(n);
            for (int i = 0; i < n; i++) {
                MemorySegment.copy(gallery.vectors()[i], 0, vectors, HALF, 2L * i * m, m);
                labels.set(INT, 4L * i, gallery.items().get(i).label());
                parts.set(ValueLayout.JAVA_BYTE, i, (byte)
                        gallery.items().get(i).part().code());
            }
            Map<String, StoredTensor> tensors = new LinkedHashMap<>();
            tensors.put("vectors", new StoredTensor(DType.F16, Shape.of(n, m), vectors));
            tensors.put("labels", new StoredTensor(DType.I32, Shape.of(n), labels));
            tensors.put("parts", new StoredTensor(DType.U8, Shape.of(n), parts));
            byte[][] names = gallery.items().stream()
                    .map(item -> item.name().getBytes(StandardCharsets.UTF_8))
                    .toArray(byte[][]::new);
            Pieces.put("name", names, tensors, arena);
            Pieces.put("thumbnail", gallery.thumbnails(), tensors, arena);
            Safetensors.write(path, tensors, GalleryMetadata.of(gallery.about()));
        } catch (TensorFileException e) {
            throw new GalleryFileException(path, problem(path, e), e);
        }
    }

    static Gallery read(Path path) throws GalleryFileException {
        if (Files.notExists(path)) {
            throw new GalleryFileException(
                    path, "no such file; expected a gallery written by 'gramian train' next to a model");
        }
        try (Arena arena = Arena.ofConfined()) {
            return new GalleryFile(Safetensors.read(path, arena)).gallery();
        } catch (TensorFileException e) {
            throw new GalleryFileException(path, "cannot be read as a gallery: " + problem(path, e), e);
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new GalleryFileException(
                    path, e.getMessage() + "; remove it and recreate it with 'gramian train --resume'", e);
        }
    }

    private static String problem(Path path, TensorFileException e) {
        String message = String.valueOf(e.getMessage());
        String own = path + ": ";
        return message.startsWith(own) ? message.substring(own.length()) : message;
    }

    /** SHA-256 of a model's file. */
    static String fingerprint(Path model) throws GalleryFileException {
        try {
            return Sha256.hex(Sha256.of(model));
        } catch (IOException e) {
            throw new GalleryFileException(model, "cannot be read: " + e.getMessage(), e);
        }
    }

    private Gallery gallery() {
        Gallery.About about = GalleryMetadata.read(file.metadata());
        int length = CountSketch.lengthOf(about.descriptorSize());
        MemorySegment vectors = tensor("vectors", DType.F16, Shape.of(count, length));
        MemorySegment labels = tensor("labels", DType.I32, Shape.of(count));
        MemorySegment parts = tensor("parts", DType.U8, Shape.of(count));
        byte[][] names = Pieces.get("name", count, file.tensors());
        byte[][] thumbnails = Pieces.get("thumbnail", count, file.tensors());
        if (file.tensors().size() != 7) {
            throw new IllegalArgumentException("expected the 7 tensors of a gallery, found "
                    + file.tensors().size());
        }
        List<Item> items = new ArrayList<>();
        short[][] halves = new short[count][length];
        for (int i = 0; i < count; i++) {
            Part part = Part.ofCode(Byte.toUnsignedInt(parts.get(ValueLayout.JAVA_BYTE, i)));
            String name = new String(names[i], StandardCharsets.UTF_8);
            items.add(new Item(name, labels.get(INT, 4L * i), part));
            MemorySegment.copy(vectors, HALF, 2L * i * length, halves[i], 0, length);
        }
        return new Gallery(about, items, thumbnails, halves);
    }

    private MemorySegment tensor(String name, DType type, Shape shape) {
        return Pieces.tensor(name, type, shape, file.tensors());
    }
}
