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
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
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
 * <p>Settings are {@link Metadata}. Reading verifies the checksums and checks that every tensor has its type and shape, and that there is no other.
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
            ByteArrays.put("name", names, tensors, arena);
            ByteArrays.put("thumbnail", gallery.thumbnails(), tensors, arena);
            Safetensors.writeChecked(path, tensors, Metadata.of(gallery.about()));
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
            TensorFile file = Safetensors.read(path, arena);
            Gallery gallery = new GalleryFile(file).gallery();
            if (!file.checked()) {
                throw new IllegalArgumentException(
                        "expected a gallery with checksums, found none, as unreleased versions wrote");
            }
            return gallery;
        } catch (TensorFileException e) {
            throw new GalleryFileException(
                    path,
                    "cannot be read as a gallery: " + problem(path, e)
                            + "; if there is no other copy, remove it and recreate it with 'gramian train --resume'",
                    e);
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

    /** Returns the SHA-256 of a model's file. */
    static String fingerprint(Path model) throws GalleryFileException {
        try {
            return Sha256.hex(Sha256.of(model));
        } catch (IOException e) {
            throw new GalleryFileException(model, "cannot be read: " + e.getMessage(), e);
        }
    }

    private Gallery gallery() {
        Gallery.About about = Metadata.read(file.metadata());
        int length = CountSketch.lengthOf(about.descriptorSize());
        Map<String, StoredTensor> tensors = file.tensors();
        MemorySegment vectors = ByteArrays.tensor("vectors", DType.F16, Shape.of(count, length), tensors);
        MemorySegment labels = ByteArrays.tensor("labels", DType.I32, Shape.of(count), tensors);
        MemorySegment parts = ByteArrays.tensor("parts", DType.U8, Shape.of(count), tensors);
        byte[][] names = ByteArrays.get("name", count, tensors);
        byte[][] thumbnails = ByteArrays.get("thumbnail", count, tensors);
        if (tensors.size() != 7) {
            throw new IllegalArgumentException("expected the 7 tensors of a gallery, found " + tensors.size());
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

    /** Byte arrays of different lengths as two tensors: their concatenation and their ends. */
    private static final class ByteArrays {
        private static final ValueLayout.OfLong LONG =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        private ByteArrays() {}

        static void put(String name, byte[][] pieces, Map<String, StoredTensor> tensors, Arena arena) {
            long bytes = 0;
            MemorySegment ends = arena.allocate(8L * pieces.length, Long.BYTES);
            for (int i = 0; i < pieces.length; i++) {
                bytes += pieces[i].length;
                ends.set(LONG, 8L * i, bytes);
            }
            MemorySegment all = arena.allocate(bytes);
            long at = 0;
            for (byte[] piece : pieces) {
                MemorySegment.copy(piece, 0, all, ValueLayout.JAVA_BYTE, at, piece.length);
                at += piece.length;
            }
            tensors.put(name + "s", new StoredTensor(DType.U8, Shape.of(bytes), all));
            tensors.put(name + "_ends", new StoredTensor(DType.I64, Shape.of(pieces.length), ends));
        }

        /** @throws IllegalArgumentException if the ends do not divide the bytes into so many pieces */
        static byte[][] get(String name, int count, Map<String, StoredTensor> tensors) {
            StoredTensor stored = tensors.get(name + "s");
            long bytes = stored == null ? 0 : stored.data().byteSize();
            MemorySegment all = tensor(name + "s", DType.U8, Shape.of(bytes), tensors);
            MemorySegment ends = tensor(name + "_ends", DType.I64, Shape.of(count), tensors);
            byte[][] pieces = new byte[count][];
            long begin = 0;
            for (int i = 0; i < count; i++) {
                long end = ends.get(LONG, 8L * i);
                if (end < begin || end > bytes || end - begin > Integer.MAX_VALUE - 8) {
                    throw new IllegalArgumentException("expected the end of " + name + " " + i + " to be from " + begin
                            + " to " + bytes + ", found " + end);
                }
                pieces[i] = all.asSlice(begin, end - begin).toArray(ValueLayout.JAVA_BYTE);
                begin = end;
            }
            if (begin != bytes) {
                throw new IllegalArgumentException(
                        "expected the last " + name + " to end at " + bytes + ", found " + begin);
            }
            return pieces;
        }

        /** @throws IllegalArgumentException if there is no such tensor of that type and shape */
        static MemorySegment tensor(String name, DType type, Shape shape, Map<String, StoredTensor> tensors) {
            StoredTensor found = tensors.get(name);
            if (found == null || found.type() != type || !found.shape().equals(shape)) {
                throw new IllegalArgumentException("expected the tensor '" + name + "' to be " + type + shape
                        + ", found " + (found == null ? "none" : found.type().toString() + found.shape()));
            }
            return found.data();
        }
    }

    /**
     * The metadata of the file.
     *
     * <pre>
     * format       gramian-gallery
     * version      1
     * classes      ["fabric","foliage"]
     * model        SHA-256 of the model's file
     * descriptor   8256                             length of the model's descriptors
     * left_out     {"TRAINING":0,"TEST":1200}       images that are not here
     * </pre>
     */
    private static final class Metadata {
        private static final String FORMAT = "gramian-gallery";
        private static final int VERSION = 1;
        private static final List<String> KEYS =
                List.of("format", "version", "classes", "model", "descriptor", "left_out");

        private Metadata() {}

        static Map<String, String> of(Gallery.About about) {
            Map<String, String> texts = new LinkedHashMap<>();
            texts.put("format", FORMAT);
            texts.put("version", Integer.toString(VERSION));
            texts.put("classes", JsonText.of(about.classes()));
            texts.put("model", about.model());
            texts.put("descriptor", Integer.toString(about.descriptorSize()));
            texts.put("left_out", JsonText.of(about.leftOut()));
            return texts;
        }

        /** @throws IllegalArgumentException if it is not that of a gallery of this version */
        static Gallery.About read(Map<String, String> texts) {
            if (!FORMAT.equals(texts.get("format"))) {
                throw new IllegalArgumentException(
                        "expected a gallery written by 'gramian train', found a safetensors file "
                                + (texts.containsKey("format")
                                        ? "of format " + QuotedText.text(text(texts, "format"))
                                        : "without a format"));
            }
            int version = number("version", text(texts, "version"));
            if (version > VERSION) {
                throw new IllegalArgumentException("is a gallery of format version " + version
                        + ", this program reads versions up to " + VERSION + "; update Gramian");
            }
            for (String key : texts.keySet()) {
                if (!KEYS.contains(key)) {
                    throw new IllegalArgumentException("expected the metadata " + String.join(", ", KEYS) + ", found "
                            + QuotedText.text(key) + " in addition");
                }
            }
            return new Gallery.About(
                    JsonText.strings("classes", text(texts, "classes")),
                    text(texts, "model"),
                    number("descriptor", text(texts, "descriptor")),
                    leftOut(text(texts, "left_out")));
        }

        private static Map<Part, Integer> leftOut(String json) {
            Map<Part, Integer> all = new EnumMap<>(Part.class);
            JsonText.numbers("left_out", json).forEach((name, images) -> {
                if (images != Math.rint(images) || images > Integer.MAX_VALUE) {
                    throw new IllegalArgumentException("expected whole numbers as left_out, found " + images);
                }
                all.put(part(name), images.intValue());
            });
            return all;
        }

        private static Part part(String name) {
            for (Part part : Part.values()) {
                if (part.name().equals(name)) {
                    return part;
                }
            }
            throw new IllegalArgumentException(
                    "expected the name of a part in left_out, found " + QuotedText.text(name));
        }

        private static int number(String key, String text) {
            if (!text.matches("[1-9][0-9]{0,8}")) {
                throw new IllegalArgumentException(
                        "expected a whole number of at least 1 as " + key + ", found " + QuotedText.text(text));
            }
            return Integer.parseInt(text);
        }

        private static String text(Map<String, String> texts, String key) {
            String text = texts.get(key);
            if (text == null) {
                throw new IllegalArgumentException("expected the metadata " + QuotedText.text(key) + ", found none");
            }
            return text;
        }
    }
}
