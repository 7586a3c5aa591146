package org.gramian.gallery;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.QuotedText;
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

    /** The set that an image belongs to, in the order of a gallery. */
    public enum Subset {
        TRAINING,
        VALIDATION,
        TEST;

        /** Returns the number in files, independent of the order of constants. */
        int code() {
            return switch (this) {
                case TRAINING -> 0;
                case VALIDATION -> 1;
                case TEST -> 2;
            };
        }
    }

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

        /**
         * Creates an empty gallery.
         *
         * @param model SHA-256 of the model's file, in hexadecimal digits
         */
        public GalleryBuilder(List<String> classes, long descriptorSize, String model) {
            this.classes = classes;
            this.sketch = CountSketch.of(descriptorSize);
            this.descriptorSize = (int) descriptorSize;
            this.model = model;
        }

        /** Adds an image. */
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

        /** Builds the gallery; throws an {@link IllegalArgumentException} if images are not consistent. */
        public Gallery build() {
            return new Gallery(new About(classes, model, descriptorSize, leftOut), entries);
        }
    }
}
