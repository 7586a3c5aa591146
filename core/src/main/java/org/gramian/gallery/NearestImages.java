package org.gramian.gallery;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import org.gramian.basis.CountSketch;
import org.gramian.gallery.Gallery.Item;
import org.gramian.gallery.Gallery.Subset;

/**
 * Exact search for the training images nearest to an image, {@code O(n·m)} for n images and vectors of m numbers.
 *
 * <p>The distance is Euclidean, {@code ‖u − v‖}; ties go to the image that comes first in the gallery. Built once, then searched by
 * any number of threads.
 */
public final class NearestImages {
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

    public static NearestImages of(Gallery gallery) {
        return new NearestImages(gallery);
    }

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
