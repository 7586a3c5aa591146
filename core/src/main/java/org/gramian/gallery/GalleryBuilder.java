package org.gramian.gallery;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Builds a gallery image by image, in the order of the gallery. */
public final class GalleryBuilder {
    private final List<String> classes;
    private final CountSketch sketch;
    private final String model;
    private final int descriptorSize;
    private final List<Item> items = new ArrayList<>();
    private final List<byte[]> thumbnails = new ArrayList<>();
    private final List<short[]> vectors = new ArrayList<>();
    private final Map<Part, Integer> leftOut = new EnumMap<>(Part.class);

    /**
     * Creates an empty gallery.
     *
     * @param descriptorSize length of the model's descriptors
     * @param model SHA-256 of the model's file, in hexadecimal digits
     */
    public GalleryBuilder(List<String> classes, long descriptorSize, String model) {
        this.classes = List.copyOf(classes);
        this.sketch = CountSketch.of(descriptorSize);
        this.descriptorSize = (int) descriptorSize;
        this.model = model;
    }

    /**
     * Adds an image.
     *
     * @param thumbnail the content of a small JPEG file
     * @param crops the descriptors of its crops
     */
    public GalleryBuilder add(Item item, byte[] thumbnail, float[][] crops) {
        float[] vector = sketch.describe(crops);
        short[] halves = new short[vector.length];
        for (int i = 0; i < halves.length; i++) {
            halves[i] = Float.floatToFloat16(vector[i]);
        }
        items.add(item);
        thumbnails.add(thumbnail.clone());
        vectors.add(halves);
        return this;
    }

    /** Counts images of a part that are not in the gallery. */
    public GalleryBuilder leaveOut(Part part, int images) {
        leftOut.merge(part, images, Integer::sum);
        return this;
    }

    /**
     * Builds the gallery.
     *
     * @throws IllegalArgumentException if images are not consistent, see {@link Gallery}
     */
    public Gallery build() {
        return new Gallery(
                new Gallery.About(classes, model, descriptorSize, leftOut),
                items,
                thumbnails.toArray(byte[][]::new),
                vectors.toArray(short[][]::new));
    }
}
