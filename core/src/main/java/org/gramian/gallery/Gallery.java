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
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.tensor.DType;
import org.gramian.tensor.Shape;
import org.gramian.tensor.file.Safetensors;
import org.gramian.tensor.file.StoredTensor;
import org.gramian.tensor.file.TensorFile;
import org.gramian.tensor.file.TensorFileException;
import org.jspecify.annotations.Nullable;

/**
 * The images of a run, stored beside its model: name, class, subset, thumbnail and short descriptor of each.
 *
 * <p>Reports take their images and embedding map from it, and searches the nearest training images:
 *
 * <pre>{@code
 * Optional<Gallery> gallery = Gallery.beside(Path.of("run/model.safetensors"));
 * List<NearestImages.Match> nearest = NearestImages.of(gallery.get()).nearest(descriptorsOfCrops, 6);
 * }</pre>
 *
 * <p>It holds at most {@value #MAX_OF_SUBSET} images of each subset. Immutable and thread-safe.
 */
public final class Gallery {
    public static final String FILE = "gallery.safetensors";

    /** Images of a subset: enough for a page and for neighbours, some 100 MB. */
    public static final int MAX_OF_SUBSET = 20_000;

    /** Larger than any JPEG of 96×96 pixels. */
    private static final int THUMBNAIL_BYTES = 1 << 16;

    private final About about;
    private final List<Entry> entries;
    private final List<Item> items;

    /** The set that an image belongs to, in the order of a gallery. Files hold the ordinals. */
    public enum Subset {
        TRAINING,
        VALIDATION,
        TEST
    }

    /** Subsets by their numbers in files. */
    private static final List<Subset> SUBSETS = List.of(Subset.TRAINING, Subset.VALIDATION, Subset.TEST);

    /** One image. */
    public record Item(String name, int label, Subset subset) {}

    /** An image with its thumbnail, a JPEG, and its short descriptor in float16. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(Item item, byte[] thumbnail, short[] vector) {}

    /**
     * Settings of all images.
     *
     * @param model SHA-256 of the model's file, in hexadecimal digits
     * @param leftOut number of images of a subset that are not in the gallery
     */
    record About(List<String> classes, String model, int descriptorSize, Map<Subset, Integer> leftOut) {
        About {
            classes = List.copyOf(classes);
            if (descriptorSize < 1 || descriptorSize > CountSketch.MAX_SIZE) {
                throw new IllegalArgumentException(
                        "expected descriptors of 1 to " + CountSketch.MAX_SIZE + " numbers, found " + descriptorSize);
            }
            if (!model.matches("[0-9a-f]{64}")) {
                throw new IllegalArgumentException(
                        "expected the SHA-256 of a model in 64 digits, found " + QuotedText.text(model));
            }
            leftOut.forEach((subset, images) -> {
                if (images < 0) {
                    throw new IllegalArgumentException(
                            "expected a number of skipped images, found " + images + " of " + word(subset));
                }
            });
        }
    }

    /** Thrown for an unusable file; the message is {@code FILE: what was expected, what was found; what to try}. */
    public static final class GalleryFileException extends IOException {
        private static final long serialVersionUID = 1L;

        GalleryFileException(Path file, String problem, @Nullable Throwable cause) {
            super(QuotedText.visible(file + ": " + problem), cause);
        }
    }

    /** @throws IllegalArgumentException if an image does not fit the classes or descriptor size, or there are too many */
    Gallery(About about, List<Entry> entries) {
        this.about = about;
        this.entries = List.copyOf(entries);
        this.items = this.entries.stream().map(Entry::item).toList();
        Map<Subset, Integer> counts = new EnumMap<>(Subset.class);
        for (int i = 0; i < items.size(); i++) {
            Subset subset = items.get(i).subset();
            if (i > 0 && items.get(i - 1).subset().compareTo(subset) > 0) {
                throw new IllegalArgumentException("expected images in the order training, validation, test, found "
                        + QuotedText.text(items.get(i).name()) + " out of order");
            }
            if (counts.merge(subset, 1, Integer::sum) > MAX_OF_SUBSET) {
                throw new IllegalArgumentException(
                        "expected at most " + MAX_OF_SUBSET + " images of " + word(subset) + ", found more");
            }
            require(this.entries.get(i));
        }
    }

    private void require(Entry entry) {
        String name = QuotedText.text(entry.item.name());
        if (entry.item.label() < 0 || entry.item.label() >= classes().size()) {
            throw new IllegalArgumentException("expected a label from 0 to "
                    + (classes().size() - 1) + ", found " + entry.item.label() + " for " + name);
        }
        byte[] jpeg = entry.thumbnail;
        boolean begins =
                jpeg.length > 3 && (jpeg[0] & 0xff) == 0xff && (jpeg[1] & 0xff) == 0xd8 && (jpeg[2] & 0xff) == 0xff;
        if (!begins || jpeg.length > THUMBNAIL_BYTES) {
            throw new IllegalArgumentException(
                    "expected a JPEG of at most " + THUMBNAIL_BYTES + " bytes as the thumbnail of " + name + ", found "
                            + jpeg.length + " bytes" + (begins ? "" : " of another format"));
        }
        if (entry.vector.length != vectorSize()) {
            throw new IllegalArgumentException(
                    "expected a vector of " + vectorSize() + " numbers for " + name + ", found " + entry.vector.length);
        }
        for (short half : entry.vector) {
            if (!Float.isFinite(Float.float16ToFloat(half))) {
                throw new IllegalArgumentException(
                        "expected finite numbers in the vector of " + name + ", found " + Float.float16ToFloat(half));
            }
        }
    }

    private static String word(Subset subset) {
        return subset.name().toLowerCase(Locale.ROOT);
    }

    /** Reads a gallery into memory. */
    public static Gallery read(Path path) throws GalleryFileException {
        return GalleryFile.read(path);
    }

    /**
     * Reads the gallery beside a model file; empty if there is none.
     *
     * @throws GalleryFileException if it cannot be used, or is that of another model
     */
    public static Optional<Gallery> beside(Path model) throws GalleryFileException {
        Path path = model.resolveSibling(FILE);
        if (Files.notExists(path)) {
            return Optional.empty();
        }
        Gallery gallery = read(path);
        if (!gallery.model().equals(GalleryFile.fingerprint(model))) {
            throw new GalleryFileException(
                    path,
                    "expected the gallery of " + model.getFileName() + " next to it, found that of another model"
                            + "; copy both files from one run, or recreate it with 'gramian train --resume'",
                    null);
        }
        return Optional.of(gallery);
    }

    /** Writes or replaces a file atomically. Equal galleries give equal bytes. */
    public void write(Path path) throws GalleryFileException {
        GalleryFile.write(path, about, entries);
    }

    public List<String> classes() {
        return about.classes();
    }

    /** Returns the images: training, then validation, then test. */
    public List<Item> items() {
        return items;
    }

    /** Returns the number of images of a subset that are not in the gallery: unreadable or beyond the limit. */
    public int leftOut(Subset subset) {
        return about.leftOut().getOrDefault(subset, 0);
    }

    /** Returns the SHA-256 of the model's file, in hexadecimal digits. */
    public String model() {
        return about.model();
    }

    public int descriptorSize() {
        return about.descriptorSize();
    }

    int vectorSize() {
        return CountSketch.lengthOf(about.descriptorSize());
    }

    public byte[] thumbnail(int index) {
        return entries.get(index).thumbnail.clone();
    }

    /** Returns the short descriptor of an image, a unit vector up to the error of {@link CountSketch}. */
    public float[] vector(int index) {
        short[] halves = entries.get(index).vector;
        float[] vector = new float[halves.length];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = Float.float16ToFloat(halves[i]);
        }
        return vector;
    }

    /** Returns {@code ‖u − v‖²} of an image's vector and another. */
    double squaredDistance(int index, float[] other) {
        short[] halves = entries.get(index).vector;
        if (halves.length != other.length) {
            throw new IllegalArgumentException(
                    "expected a vector of " + halves.length + " numbers, as in the gallery, found " + other.length);
        }
        double sum = 0;
        for (int i = 0; i < halves.length; i++) {
            double difference = Float.float16ToFloat(halves[i]) - (double) other[i];
            sum += difference * difference;
        }
        return sum;
    }

    /** Builds a gallery image by image, in the order of the gallery. */
    public static final class GalleryBuilder {
        private final List<String> classes;
        private final CountSketch sketch;
        private final String model;
        private final int descriptorSize;
        private final List<Entry> entries = new ArrayList<>();
        private final Map<Subset, Integer> leftOut = new EnumMap<>(Subset.class);

        /** @param model SHA-256 of the model's file, in hexadecimal digits */
        public GalleryBuilder(List<String> classes, long descriptorSize, String model) {
            this.classes = classes;
            this.sketch = CountSketch.of(descriptorSize);
            this.descriptorSize = (int) descriptorSize;
            this.model = model;
        }

        public GalleryBuilder add(Item item, byte[] thumbnail, float[][] crops) {
            float[] vector = sketch.describe(crops);
            short[] halves = new short[vector.length];
            for (int i = 0; i < halves.length; i++) {
                halves[i] = Float.floatToFloat16(vector[i]);
            }
            entries.add(new Entry(item, thumbnail.clone(), halves));
            return this;
        }

        /** Counts images of a subset that are not in the gallery. */
        public GalleryBuilder leaveOut(Subset subset, int images) {
            leftOut.merge(subset, images, Integer::sum);
            return this;
        }

        /**
         * Returns the gallery.
         *
         * @throws IllegalArgumentException if images are not consistent
         */
        public Gallery build() {
            return new Gallery(new About(classes, model, descriptorSize, leftOut), entries);
        }
    }

    /**
     * A gallery as one safetensors file.
     *
     * <pre>
     * vectors           F16 [n, m]   short descriptors
     * labels            I32 [n]      indexes of classes
     * parts             U8 [n]       0 training, 1 validation, 2 test
     * names             U8 [b]       in UTF-8, one after the other; name_ends I64 [n] are their ends in it
     * thumbnails        U8 [t]       JPEG files, one after the other; thumbnail_ends I64 [n] are their ends in it
     *
     * format       gramian-gallery
     * version      1
     * classes      ["fabric","foliage"]
     * model        SHA-256 of the model's file
     * descriptor   8256                             length of the model's descriptors
     * left_out     {"TRAINING":0,"TEST":1200}       images that are not here
     * </pre>
     *
     * <p>Reading verifies the checksums and checks that every tensor has its type and shape, and that there is no other.
     */
    static final class GalleryFile {
        private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfShort HALF =
                ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
        private static final ValueLayout.OfLong LONG =
                ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

        private static final String FORMAT = "gramian-gallery";
        private static final int VERSION = 1;
        private static final Set<String> TENSORS =
                Set.of("vectors", "labels", "parts", "names", "name_ends", "thumbnails", "thumbnail_ends");
        private static final List<String> KEYS =
                List.of("format", "version", "classes", "model", "descriptor", "left_out");

        private final Map<String, StoredTensor> tensors;
        private final Map<String, String> texts;

        private GalleryFile(TensorFile file) {
            this.tensors = file.tensors();
            this.texts = file.metadata();
        }

        static void write(Path path, About about, List<Entry> entries) throws GalleryFileException {
            try (Arena arena = Arena.ofConfined()) {
                int n = entries.size();
                int m = CountSketch.lengthOf(about.descriptorSize());
                MemorySegment vectors = arena.allocate(2L * n * m, Long.BYTES);
                MemorySegment labels = arena.allocate(4L * n, Long.BYTES);
                MemorySegment parts = arena.allocate(n);
                for (int i = 0; i < n; i++) {
                    MemorySegment.copy(entries.get(i).vector(), 0, vectors, HALF, 2L * i * m, m);
                    Item item = entries.get(i).item();
                    labels.set(INT, 4L * i, item.label());
                    parts.set(ValueLayout.JAVA_BYTE, i, (byte) SUBSETS.indexOf(item.subset()));
                }
                Map<String, StoredTensor> tensors = new LinkedHashMap<>();
                tensors.put("vectors", new StoredTensor(DType.F16, Shape.of(n, m), vectors));
                tensors.put("labels", new StoredTensor(DType.I32, Shape.of(n), labels));
                tensors.put("parts", new StoredTensor(DType.U8, Shape.of(n), parts));
                putPieces(
                        "name",
                        entries.stream()
                                .map(entry -> entry.item().name().getBytes(StandardCharsets.UTF_8))
                                .toList(),
                        tensors,
                        arena);
                putPieces("thumbnail", entries.stream().map(Entry::thumbnail).toList(), tensors, arena);
                Map<String, String> texts = new LinkedHashMap<>();
                texts.put("format", FORMAT);
                texts.put("version", Integer.toString(VERSION));
                texts.put("classes", JsonText.of(about.classes()));
                texts.put("model", about.model());
                texts.put("descriptor", Integer.toString(about.descriptorSize()));
                texts.put("left_out", JsonText.of(about.leftOut()));
                Safetensors.writeChecked(path, tensors, texts);
            } catch (TensorFileException e) {
                throw new GalleryFileException(path, problem(path, e), e);
            }
        }

        static Gallery read(Path path) throws GalleryFileException {
            if (Files.notExists(path)) {
                throw new GalleryFileException(
                        path, "no such file; expected a gallery written by 'gramian train' next to a model", null);
            }
            try (Arena arena = Arena.ofConfined()) {
                TensorFile file = Safetensors.read(path, arena);
                Gallery gallery = new GalleryFile(file).gallery();
                if (!file.checked()) {
                    throw new IllegalArgumentException("expected a gallery with checksums, found none");
                }
                return gallery;
            } catch (TensorFileException e) {
                throw new GalleryFileException(
                        path,
                        "cannot be read as a gallery: " + problem(path, e)
                                + "; if there is no other copy, remove it and recreate it with 'gramian train"
                                + " --resume'",
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

        static String fingerprint(Path model) throws GalleryFileException {
            try {
                return Sha256.hex(Sha256.of(model));
            } catch (IOException e) {
                throw new GalleryFileException(model, "cannot be read: " + e.getMessage(), e);
            }
        }

        private Gallery gallery() {
            About about = about();
            int length = CountSketch.lengthOf(about.descriptorSize());
            StoredTensor stored = tensors.get("labels");
            long found = stored == null ? 0 : stored.shape().elements();
            int most = Gallery.MAX_OF_SUBSET * Subset.values().length;
            if (found > most) {
                throw new IllegalArgumentException("expected at most " + most + " images, found " + found);
            }
            int count = (int) found;
            MemorySegment vectors = tensor("vectors", DType.F16, Shape.of(count, length));
            MemorySegment labels = tensor("labels", DType.I32, Shape.of(count));
            MemorySegment parts = tensor("parts", DType.U8, Shape.of(count));
            byte[][] names = pieces("name", count);
            byte[][] thumbnails = pieces("thumbnail", count);
            if (!tensors.keySet().equals(TENSORS)) {
                throw new IllegalArgumentException("expected the 7 tensors of a gallery, found " + tensors.size());
            }
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int part = Byte.toUnsignedInt(parts.get(ValueLayout.JAVA_BYTE, i));
                if (part >= SUBSETS.size()) {
                    throw new IllegalArgumentException("expected 0, 1 or 2 as the part of an image, found " + part);
                }
                short[] halves = new short[length];
                MemorySegment.copy(vectors, HALF, 2L * i * length, halves, 0, length);
                Item item = new Item(
                        new String(names[i], StandardCharsets.UTF_8), labels.get(INT, 4L * i), SUBSETS.get(part));
                entries.add(new Entry(item, thumbnails[i], halves));
            }
            return new Gallery(about, entries);
        }

        /** Puts byte arrays of different lengths as two tensors: their concatenation and their ends. */
        private static void putPieces(
                String name, List<byte[]> pieces, Map<String, StoredTensor> tensors, Arena arena) {
            long bytes = pieces.stream().mapToLong(piece -> piece.length).sum();
            MemorySegment all = arena.allocate(bytes);
            MemorySegment ends = arena.allocate(8L * pieces.size(), Long.BYTES);
            long at = 0;
            for (int i = 0; i < pieces.size(); i++) {
                byte[] piece = pieces.get(i);
                MemorySegment.copy(piece, 0, all, ValueLayout.JAVA_BYTE, at, piece.length);
                at += piece.length;
                ends.set(LONG, 8L * i, at);
            }
            tensors.put(name + "s", new StoredTensor(DType.U8, Shape.of(bytes), all));
            tensors.put(name + "_ends", new StoredTensor(DType.I64, Shape.of(pieces.size()), ends));
        }

        /** @throws IllegalArgumentException if the ends do not divide the bytes into so many pieces */
        private byte[][] pieces(String name, int count) {
            StoredTensor stored = tensors.get(name + "s");
            long bytes = stored == null ? 0 : stored.data().byteSize();
            MemorySegment all = tensor(name + "s", DType.U8, Shape.of(bytes));
            MemorySegment ends = tensor(name + "_ends", DType.I64, Shape.of(count));
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
        private MemorySegment tensor(String name, DType type, Shape shape) {
            StoredTensor found = tensors.get(name);
            if (found == null || found.type() != type || !found.shape().equals(shape)) {
                throw new IllegalArgumentException("expected the tensor '" + name + "' to be " + type + shape
                        + ", found " + (found == null ? "none" : found.type().toString() + found.shape()));
            }
            return found.data();
        }

        /** @throws IllegalArgumentException if the metadata is not that of a gallery of this version */
        private About about() {
            if (!FORMAT.equals(texts.get("format"))) {
                throw new IllegalArgumentException(
                        "expected a gallery written by 'gramian train', found a safetensors file "
                                + (texts.containsKey("format")
                                        ? "of format " + QuotedText.text(text("format"))
                                        : "without a format"));
            }
            int version = number("version");
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
            Map<Subset, Integer> leftOut = new EnumMap<>(Subset.class);
            JsonText.numbers("left_out", text("left_out")).forEach((name, images) -> {
                if (images != Math.rint(images) || images > Integer.MAX_VALUE) {
                    throw new IllegalArgumentException("expected whole numbers as left_out, found " + images);
                }
                Subset subset = Arrays.stream(Subset.values())
                        .filter(one -> one.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException(
                                "expected the name of a part in left_out, found " + QuotedText.text(name)));
                leftOut.put(subset, images.intValue());
            });
            return new About(
                    JsonText.strings("classes", text("classes")), text("model"), number("descriptor"), leftOut);
        }

        private int number(String key) {
            String text = text(key);
            if (!text.matches("[1-9][0-9]{0,8}")) {
                throw new IllegalArgumentException(
                        "expected a whole number of at least 1 as " + key + ", found " + QuotedText.text(text));
            }
            return Integer.parseInt(text);
        }

        private String text(String key) {
            String text = texts.get(key);
            if (text == null) {
                throw new IllegalArgumentException("expected the metadata " + QuotedText.text(key) + ", found none");
            }
            return text;
        }
    }
}
