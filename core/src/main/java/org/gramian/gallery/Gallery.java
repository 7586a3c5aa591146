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
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.gramian.basis.CountSketch;
import org.gramian.basis.JsonText;
import org.gramian.basis.QuotedText;
import org.gramian.basis.Sha256;
import org.gramian.image.Image;
import org.gramian.image.ImageSource;
import org.gramian.model.Classifier;
import org.gramian.model.Engine;
import org.gramian.model.ModelFile;
import org.gramian.model.UnreadableImageException;
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
 * Gallery gallery = Gallery.of(Path.of("run"));
 * List<NearestImages.Match> nearest = gallery.nearest(classifier, Path.of("photo.jpg"), 6);
 * }</pre>
 *
 * <p>It holds at most {@value #MAX_OF_SUBSET} images of each subset. Immutable and thread-safe.
 *
 * <p>The file is a safetensors file of format {@code gramian-gallery}, version 2:
 *
 * <pre>
 * vectors           F16 [n, m]   short descriptors
 * thumbnails        U8 [t]       JPEG files, one after the other
 * document          U8 [b]       the images and settings as JSON
 * </pre>
 *
 * <p>Reading verifies the checksums and checks that every tensor has its type and shape, and that there is no other.
 *
 * @since 0.1
 */
public final class Gallery {
    /** Name of the file in the folder of a run. */
    public static final String FILE = "gallery.safetensors";

    /** Images of a subset: enough for a page and for neighbours, some 100 MB. */
    public static final int MAX_OF_SUBSET = 20_000;

    /** Larger than any JPEG of 96×96 pixels. */
    private static final int THUMBNAIL_BYTES = 1 << 16;

    private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final Map<String, String> METADATA = Map.of("format", "gramian-gallery", "version", "2");

    private final About about;
    private final List<Entry> entries;
    private final List<Item> items;

    /** Built by the first search; threads that race build the same. */
    private volatile @Nullable NearestImages search;

    /** The set that an image belongs to, in the order of a gallery. */
    public enum Subset {
        TRAINING,
        VALIDATION,
        TEST
    }

    /** An image of the run. */
    public record Item(String name, int label, Subset subset) {}

    /** An image with its thumbnail, a JPEG, and its short descriptor in float16. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Entry(Item item, byte[] thumbnail, short[] vector) {}

    /**
     * Settings of all images.
     *
     * @param model SHA-256 of the model's file, in hexadecimal digits
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

    /**
     * Reads the gallery of a run.
     *
     * @param run folder of the run, or its model file
     * @throws IOException if there is none, or it is damaged
     */
    public static Gallery of(Path run) throws IOException {
        return beside(run)
                .orElseThrow(() -> new GalleryFileException(
                        run, "expected a run with " + FILE + ", found none; train without --no-gallery", null));
    }

    /** Reads the gallery beside a model file, or of a run folder; empty if there is none. */
    public static Optional<Gallery> beside(Path run) throws GalleryFileException {
        Path model = ModelFile.in(run);
        Path path = model.resolveSibling(FILE);
        if (Files.notExists(path)) {
            return Optional.empty();
        }
        Gallery gallery = read(path);
        String fingerprint;
        try {
            fingerprint = Sha256.hex(Sha256.of(model));
        } catch (IOException e) {
            throw new GalleryFileException(model, "cannot be read: " + e.getMessage(), e);
        }
        if (!gallery.model().equals(fingerprint)) {
            throw new GalleryFileException(
                    path,
                    "expected the gallery of " + model.getFileName() + " next to it, found that of another model"
                            + "; copy both files from one run, or recreate it with 'gramian train --resume'",
                    null);
        }
        return Optional.of(gallery);
    }

    /**
     * Returns the training images nearest to an image file, the nearest first; all if there are fewer.
     *
     * @param classifier of the same run
     * @throws UnreadableImageException if the file is not a readable image
     */
    public List<NearestImages.Match> nearest(Classifier classifier, Path file, int count)
            throws UnreadableImageException {
        return nearest(classifier, classifier.decode(ImageSource.of(file)), count);
    }

    /**
     * Returns the training images nearest to an image, the nearest first; all if there are fewer.
     *
     * @param classifier of the same run
     */
    public List<NearestImages.Match> nearest(Classifier classifier, Image image, int count) {
        float[][] crops = classifier
                .compute(List.of(classifier.render(image)), Set.of(Engine.Rows.DESCRIPTORS))
                .getFirst()
                .of(Engine.Rows.DESCRIPTORS);
        return NearestImages.of(this).nearest(crops, count);
    }

    /** Returns the class names. */
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

    /** Returns the length of the model's descriptors. */
    public int descriptorSize() {
        return about.descriptorSize();
    }

    /** Returns the length of the short descriptors. */
    public int vectorSize() {
        return CountSketch.lengthOf(about.descriptorSize());
    }

    /** Returns the thumbnail of an image as a JPEG file. */
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

        /** Adds an image with the descriptors of its crops. */
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

        /** Returns the gallery. */
        public Gallery build() {
            return new Gallery(new About(classes, model, descriptorSize, leftOut), entries);
        }
    }

    /** @param thumbnailBytes length of each thumbnail */
    private record Document(About about, List<Item> items, List<Integer> thumbnailBytes) {}

    /** Writes or replaces a file atomically. Equal galleries give equal bytes. */
    public void write(Path path) throws GalleryFileException {
        try (Arena arena = Arena.ofConfined()) {
            int n = entries.size();
            int m = vectorSize();
            MemorySegment vectors = arena.allocate(2L * n * m, Long.BYTES);
            List<Integer> lengths =
                    entries.stream().map(entry -> entry.thumbnail.length).toList();
            MemorySegment thumbnails =
                    arena.allocate(lengths.stream().mapToLong(length -> length).sum());
            long at = 0;
            for (int i = 0; i < n; i++) {
                MemorySegment.copy(entries.get(i).vector, 0, vectors, HALF, 2L * i * m, m);
                byte[] thumbnail = entries.get(i).thumbnail;
                MemorySegment.copy(thumbnail, 0, thumbnails, ValueLayout.JAVA_BYTE, at, thumbnail.length);
                at += thumbnail.length;
            }
            byte[] document = JsonText.of(new Document(about, items, lengths)).getBytes(StandardCharsets.UTF_8);
            MemorySegment json = arena.allocateFrom(ValueLayout.JAVA_BYTE, document);
            Map<String, StoredTensor> tensors = new LinkedHashMap<>();
            tensors.put("vectors", new StoredTensor(DType.F16, Shape.of(n, m), vectors));
            tensors.put("thumbnails", new StoredTensor(DType.U8, Shape.of(at), thumbnails));
            tensors.put("document", new StoredTensor(DType.U8, Shape.of(json.byteSize()), json));
            Safetensors.writeChecked(path, tensors, new TreeMap<>(METADATA));
        } catch (TensorFileException e) {
            throw new GalleryFileException(path, problem(path, e), e);
        }
    }

    /** Reads a gallery into memory. */
    public static Gallery read(Path path) throws GalleryFileException {
        if (Files.notExists(path)) {
            throw new GalleryFileException(
                    path, "no such file; expected a gallery written by 'gramian train' next to a model", null);
        }
        try (Arena arena = Arena.ofConfined()) {
            TensorFile file = Safetensors.read(path, arena);
            if (!file.metadata().equals(METADATA)) {
                throw new IllegalArgumentException(
                        "expected a gallery written by 'gramian train' with the metadata " + METADATA + ", found "
                                + QuotedText.bare(file.metadata().toString()));
            }
            if (!file.checked()) {
                throw new IllegalArgumentException("expected a gallery with checksums, found none");
            }
            return gallery(file.tensors());
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

    private static Gallery gallery(Map<String, StoredTensor> tensors) {
        if (!tensors.keySet().equals(Set.of("vectors", "thumbnails", "document"))) {
            throw new IllegalArgumentException("expected the 3 tensors of a gallery, found "
                    + QuotedText.bare(tensors.keySet().toString()));
        }
        byte[] json = bytes(tensors, "document").toArray(ValueLayout.JAVA_BYTE);
        Document document = JsonText.parse(new String(json, StandardCharsets.UTF_8), Document.class);
        List<Item> items = document.items();
        int count = items.size();
        int length = CountSketch.lengthOf(document.about().descriptorSize());
        MemorySegment vectors = tensor(tensors, "vectors", DType.F16, Shape.of(count, length));
        MemorySegment thumbnails = bytes(tensors, "thumbnails");
        boolean lengths = document.thumbnailBytes().size() == count
                && document.thumbnailBytes().stream().allMatch(bytes -> bytes > 0)
                && document.thumbnailBytes().stream().mapToLong(bytes -> bytes).sum() == thumbnails.byteSize();
        if (!lengths) {
            throw new IllegalArgumentException("expected " + count + " lengths of thumbnails, above 0, together "
                    + thumbnails.byteSize() + " bytes, found others");
        }
        List<Entry> entries = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < count; i++) {
            short[] halves = new short[length];
            MemorySegment.copy(vectors, HALF, 2L * i * length, halves, 0, length);
            int bytes = document.thumbnailBytes().get(i);
            entries.add(new Entry(items.get(i), thumbnails.asSlice(at, bytes).toArray(ValueLayout.JAVA_BYTE), halves));
            at += bytes;
        }
        return new Gallery(document.about(), entries);
    }

    private static MemorySegment bytes(Map<String, StoredTensor> tensors, String name) {
        StoredTensor stored = Objects.requireNonNull(tensors.get(name));
        return tensor(tensors, name, DType.U8, Shape.of(stored.data().byteSize()));
    }

    /** @throws IllegalArgumentException if the tensor has another type or shape */
    private static MemorySegment tensor(Map<String, StoredTensor> tensors, String name, DType type, Shape shape) {
        StoredTensor found = Objects.requireNonNull(tensors.get(name));
        if (found.type() != type || !found.shape().equals(shape)) {
            throw new IllegalArgumentException("expected the tensor '" + name + "' to be " + type + shape + ", found "
                    + found.type() + found.shape());
        }
        return found.data();
    }

    /**
     * Exact search for the training images nearest to an image, {@code O(n·m)} for n images and vectors of m numbers.
     *
     * <p>The distance is Euclidean, {@code ‖u − v‖}; ties go to the image that comes first in the gallery. Built once, then searched by
     * any number of threads.
     */
    public static final class NearestImages {
        private static final Comparator<Match> NEAREST_FIRST =
                Comparator.comparingDouble(Match::distance).thenComparingInt(Match::index);

        private final Gallery gallery;
        private final CountSketch sketch;
        private final int[] indexes;

        private NearestImages(Gallery gallery) {
            this.gallery = gallery;
            this.sketch = CountSketch.of(gallery.descriptorSize());
            this.indexes = IntStream.range(0, gallery.items().size())
                    .filter(i -> gallery.items().get(i).subset() == Subset.TRAINING)
                    .toArray();
        }

        /**
         * A training image.
         *
         * @param distance Euclidean distance of the unit vectors, from 0 to 2
         */
        public record Match(int index, String name, String className, double distance) {}

        /** Returns the search in a gallery, built at the first call. */
        public static NearestImages of(Gallery gallery) {
            NearestImages search = gallery.search;
            if (search == null) {
                search = new NearestImages(gallery);
                gallery.search = search;
            }
            return search;
        }

        /** Returns the gallery that is searched. */
        public Gallery gallery() {
            return gallery;
        }

        /** Returns the nearest training images, the nearest first; all if there are fewer. */
        public List<Match> nearest(float[][] crops, int count) {
            return nearest(sketch.describe(crops), count);
        }

        /** @param vector of {@link CountSketch#describe} */
        List<Match> nearest(float[] vector, int count) {
            if (count < 1) {
                throw new IllegalArgumentException("expected a request for at least 1 neighbour, found " + count);
            }
            PriorityQueue<Match> best = new PriorityQueue<>(NEAREST_FIRST.reversed());
            for (int index : indexes) {
                double distance = Math.sqrt(gallery.squaredDistance(index, vector));
                if (best.size() < count || distance < best.element().distance()) { // indexes ascend: ties stay
                    Item item = gallery.items().get(index);
                    best.add(new Match(index, item.name(), gallery.classes().get(item.label()), distance));
                    if (best.size() > count) {
                        best.remove();
                    }
                }
            }
            return best.stream().sorted(NEAREST_FIRST).toList();
        }
    }
}
