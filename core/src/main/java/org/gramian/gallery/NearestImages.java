package org.gramian.gallery;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

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

    /**
     * An image of the gallery and its distance.
     *
     * @param index of the image in the gallery
     * @param distance Euclidean distance of the vectors, from 0 to about 2
     */
    public record Neighbour(int index, double distance) {}

    /**
     * Exact nearest-neighbour search among the images of one part of a gallery.
     *
     * <p>The distance is Euclidean, {@code ‖u − v‖}; ties go to the image that comes first in the gallery. Takes {@code O(n·m)} for
     * {@code n} images and vectors of {@code m} numbers. Thread-safe.
     */
    public static final class Neighbours {
        private static final Comparator<Neighbour> NEAREST_FIRST =
                Comparator.comparingDouble(Neighbour::distance).thenComparingInt(Neighbour::index);

        private final Gallery gallery;
        private final int[] indexes;

        private Neighbours(Gallery gallery, int[] indexes) {
            this.gallery = gallery;
            this.indexes = indexes;
        }

        /** Returns the index of the images of one part. */
        public static Neighbours of(Gallery gallery, Part part) {
            List<Item> items = gallery.items();
            return new Neighbours(
                    gallery,
                    IntStream.range(0, items.size())
                            .filter(i -> items.get(i).part() == part)
                            .toArray());
        }

        /**
         * Returns the nearest images, the nearest first; all if the part has fewer.
         *
         * @param vector a vector of {@link CountSketch#describe}
         * @param count number of images
         * @throws IllegalArgumentException if the vector is not as long as those of the gallery, or less than one is
         *     wanted
         */
        public List<Neighbour> nearest(float[] vector, int count) {
            if (count < 1) {
                throw new IllegalArgumentException("expected a request for at least 1 neighbour, found " + count);
            }
            PriorityQueue<Neighbour> best = new PriorityQueue<>(NEAREST_FIRST.reversed());
            for (int index : indexes) {
                Neighbour one = new Neighbour(index, Math.sqrt(gallery.squaredDistance(index, vector)));
                if (best.size() < count) {
                    best.add(one);
                } else if (NEAREST_FIRST.compare(one, best.element()) < 0) {
                    best.remove();
                    best.add(one);
                }
            }
            List<Neighbour> sorted = new ArrayList<>(best);
            sorted.sort(NEAREST_FIRST);
            return List.copyOf(sorted);
        }
    }
}
