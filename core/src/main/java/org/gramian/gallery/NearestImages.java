package org.gramian.gallery;

import java.util.List;

/**
 * Search for the training images nearest to an image. The index is built once, then searched by any number of threads.
 *
 * @param gallery the training images
 * @param sketch shortens descriptors to the length of the gallery's vectors
 * @param neighbours the index
 */
public record NearestImages(Gallery gallery, CountSketch sketch, Neighbours neighbours) {
    /**
     * A training image.
     *
     * @param index of the image in the gallery
     * @param name as in its dataset
     * @param className its class
     * @param distance Euclidean distance of the unit vectors, from 0 to 2
     */
    public record Match(int index, String name, String className, double distance) {}

    /** Builds the index of a gallery. */
    public static NearestImages of(Gallery gallery) {
        return new NearestImages(
                gallery, CountSketch.of(gallery.descriptorSize()), Neighbours.of(gallery, Part.TRAINING));
    }

    /**
     * Returns the nearest training images, the nearest first.
     *
     * @param crops descriptors of an image's crops
     * @param count number of images
     * @throws IllegalArgumentException if a descriptor is not finite
     */
    public List<Match> nearest(float[][] crops, int count) {
        return neighbours.nearest(sketch.describe(crops), count).stream()
                .map(neighbour -> {
                    Item item = gallery.items().get(neighbour.index());
                    String className = gallery.classes().get(item.label());
                    return new Match(neighbour.index(), item.name(), className, neighbour.distance());
                })
                .toList();
    }
}
