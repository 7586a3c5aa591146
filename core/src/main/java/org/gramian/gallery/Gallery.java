package org.gramian.gallery;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.gramian.basis.QuotedText;

/**
 * The images of a run, stored beside its model: name, class, part, thumbnail and short descriptor of each.
 *
 * <p>Reports take their images and embedding map from it, and searches the nearest training images:
 *
 * <pre>{@code
 * Optional<Gallery> gallery = Gallery.beside(Path.of("run/model.safetensors"));
 * List<NearestImages.Match> nearest = NearestImages.of(gallery.get()).nearest(descriptorsOfCrops, 6);
 * }</pre>
 *
 * <p>It holds at most {@value #MOST_OF_A_PART} images of each part. Immutable and thread-safe.
 */
public final class Gallery {
    /** File name, beside the model. */
    public static final String FILE = "gallery.safetensors";

    /** Images of a part: enough for a page and for neighbours, some 100 MB. */
    public static final int MOST_OF_A_PART = 20_000;

    /** Larger than any JPEG of 96×96 pixels. */
    private static final int THUMBNAIL_BYTES = 1 << 16;

    private final About about;
    private final List<Item> items;
    private final byte[][] thumbnails;
    private final short[][] vectors;

    /**
     * Settings of all images.
     *
     * @param classes class names
     * @param model SHA-256 of the model's file, in hexadecimal digits
     * @param descriptorSize length of the model's descriptors
     * @param leftOut number of images of a part that are not in the gallery
     */
    record About(List<String> classes, String model, int descriptorSize, Map<Part, Integer> leftOut) {
        About {
            classes = List.copyOf(classes);
            leftOut = new EnumMap<>(leftOut.isEmpty() ? new EnumMap<>(Part.class) : leftOut);
            if (descriptorSize < 1 || descriptorSize > CountSketch.LONGEST) {
                throw new IllegalArgumentException(
                        "expected descriptors of 1 to " + CountSketch.LONGEST + " numbers, found " + descriptorSize);
            }
            if (!model.matches("[0-9a-f]{64}")) {
                throw new IllegalArgumentException(
                        "expected the SHA-256 of a model in 64 digits, found " + QuotedText.text(model));
            }
            leftOut.forEach((part, images) -> {
                if (images < 0) {
                    throw new IllegalArgumentException(
                            "expected a number of skipped images, found " + images + " of " + part.words());
                }
            });
        }
    }

    /** @throws IllegalArgumentException if an image does not fit the classes or descriptor size, or there are too many */
    Gallery(About about, List<Item> items, byte[][] thumbnails, short[][] vectors) {
        this.about = about;
        this.items = List.copyOf(items);
        this.thumbnails = thumbnails;
        this.vectors = vectors;
        require(about, this.items, thumbnails, vectors);
    }

    /**
     * Reads a gallery into memory.
     *
     * @throws GalleryFileException if it is not a usable gallery
     */
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
                            + "; copy both files from one run, or recreate it with 'gramian train --resume'");
        }
        return Optional.of(gallery);
    }

    /**
     * Writes or replaces a file atomically. Equal galleries give equal bytes.
     *
     * @throws GalleryFileException if it cannot be written
     */
    public void write(Path path) throws GalleryFileException {
        GalleryFile.write(path, this);
    }

    /** Returns the class names. */
    public List<String> classes() {
        return about.classes();
    }

    /** Returns the images: training, then validation, then test. */
    public List<Item> items() {
        return items;
    }

    /** Returns the number of images of a part that are not in the gallery: unreadable or beyond the limit. */
    public int leftOut(Part part) {
        return about.leftOut().getOrDefault(part, 0);
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
        return thumbnails[index].clone();
    }

    /** Returns the short descriptor of an image, a unit vector up to the error of {@link CountSketch}. */
    public float[] vector(int index) {
        short[] halves = vectors[index];
        float[] vector = new float[halves.length];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = Float.float16ToFloat(halves[i]);
        }
        return vector;
    }

    /** Returns {@code ‖u − v‖²} of an image's vector and another. */
    double squaredDistance(int index, float[] other) {
        short[] halves = vectors[index];
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

    About about() {
        return about;
    }

    byte[][] thumbnails() {
        return thumbnails;
    }

    short[][] vectors() {
        return vectors;
    }

    private static void require(About about, List<Item> items, byte[][] thumbnails, short[][] vectors) {
        if (thumbnails.length != items.size() || vectors.length != items.size()) {
            throw new IllegalArgumentException("expected a thumbnail and a vector for each of " + items.size()
                    + " images, found " + thumbnails.length + " and " + vectors.length);
        }
        requireOrder(items);
        int length = CountSketch.lengthOf(about.descriptorSize());
        for (int i = 0; i < items.size(); i++) {
            Item item = items.get(i);
            if (item.label() < 0 || item.label() >= about.classes().size()) {
                throw new IllegalArgumentException(
                        "expected a label from 0 to " + (about.classes().size() - 1) + ", found " + item.label()
                                + " for " + QuotedText.text(item.name()));
            }
            requireThumbnail(item, thumbnails[i]);
            requireVector(item, vectors[i], length);
        }
    }

    private static void requireOrder(List<Item> items) {
        Map<Part, Integer> counts = new EnumMap<>(Part.class);
        for (int i = 0; i < items.size(); i++) {
            Part part = items.get(i).part();
            if (i > 0 && items.get(i - 1).part().compareTo(part) > 0) {
                throw new IllegalArgumentException("expected images in the order training, validation, test, found "
                        + QuotedText.text(items.get(i).name()) + " out of order");
            }
            if (counts.merge(part, 1, Integer::sum) > MOST_OF_A_PART) {
                throw new IllegalArgumentException(
                        "expected at most " + MOST_OF_A_PART + " images of " + part.words() + ", found more");
            }
        }
    }

    private static void requireThumbnail(Item item, byte[] jpeg) {
        boolean begins =
                jpeg.length > 3 && (jpeg[0] & 0xff) == 0xff && (jpeg[1] & 0xff) == 0xd8 && (jpeg[2] & 0xff) == 0xff;
        if (!begins || jpeg.length > THUMBNAIL_BYTES) {
            throw new IllegalArgumentException("expected a JPEG of at most " + THUMBNAIL_BYTES
                    + " bytes as the thumbnail of " + QuotedText.text(item.name()) + ", found " + jpeg.length + " bytes"
                    + (begins ? "" : " of another format"));
        }
    }

    private static void requireVector(Item item, short[] vector, int length) {
        if (vector.length != length) {
            throw new IllegalArgumentException("expected a vector of " + length + " numbers for "
                    + QuotedText.text(item.name()) + ", found " + vector.length);
        }
        for (short half : vector) {
            if (!Float.isFinite(Float.float16ToFloat(half))) {
                throw new IllegalArgumentException("expected finite numbers in the vector of "
                        + QuotedText.text(item.name()) + ", found " + Float.float16ToFloat(half));
            }
        }
    }
}
