package org.gramian.image.batch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** The order of the training images in an epoch, from the seed and the epoch. */
public final class Shuffle {
    private Shuffle() {}

    /** Returns the shuffled numbers below a count, in the order of the list method but with less memory. */
    public static int[] epoch(int count, long seed, long epoch) {
        int[] order = new int[count];
        Arrays.setAll(order, i -> i);
        RandomGenerator random = random(seed, epoch);
        for (int i = count - 1; i > 0; i--) { // with the draws of Collections.shuffle
            int other = random.nextInt(i + 1);
            int moved = order[i];
            order[i] = order[other];
            order[other] = moved;
        }
        return order;
    }

    /** Returns a shuffled copy. */
    public static <T> List<T> epoch(List<T> items, long seed, long epoch) {
        List<T> shuffled = new ArrayList<>(items);
        Collections.shuffle(shuffled, random(seed, epoch));
        return shuffled;
    }

    private static RandomGenerator random(long seed, long epoch) {
        // Hashed by a generator each: neighbouring seeds of SplittableRandom may give shifted sequences.
        return new SplittableRandom(new SplittableRandom(seed).nextLong() ^ new SplittableRandom(~epoch).nextLong());
    }
}
