package org.gramian.gallery;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;

/**
 * Finds the images of one part of a gallery that a model sees as most alike: exactly, by comparing with each of them.
 *
 * <p>The distance is the Euclidean one of short descriptors, {@code ‖u − v‖}; among equal distances the image that comes
 * first in the gallery wins. Takes {@code O(n·m)} for {@code n} images and vectors of {@code m} numbers: some milliseconds
 * for thousands. Safe for use by many threads.
 */
public final class Neighbours {
    private static final Comparator<Neighbour> NEAREST_FIRST =
            Comparator.comparingDouble(Neighbour::distance).thenComparingInt(Neighbour::index);

    private final Gallery gallery;
    private final int[] indexes;

    private Neighbours(Gallery gallery, int[] indexes) {
        this.gallery = gallery;
        this.indexes = indexes;
    }

    /** Among the images of one part. */
    public static Neighbours of(Gallery gallery, Part part) {
        List<Item> items = gallery.items();
        return new Neighbours(
                gallery,
                IntStream.range(0, items.size())
                        .filter(i -> items.get(i).part() == part)
                        .toArray());
    }

    /**
     * The nearest images, the nearest first; fewer than wanted where the part has fewer.
     *
     * @param vector a short descriptor, as {@link CountSketch#describe} makes it
     * @param count how many are wanted
     * @throws IllegalArgumentException if the vector is not as long as those of the gallery, or less than one is wanted
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
