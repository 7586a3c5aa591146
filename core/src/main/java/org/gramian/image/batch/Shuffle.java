package org.gramian.image.batch;

import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/** The order of the training images in an epoch, from the seed and the epoch. */
public final class Shuffle {
    private Shuffle() {}

    /** Returns the shuffled numbers below a count. */
    public static int[] epoch(int count, long seed, long epoch) {
        // Hashed by a generator each: neighbouring seeds of SplittableRandom may give shifted sequences.
        RandomGenerator random =
                new SplittableRandom(new SplittableRandom(seed).nextLong() ^ new SplittableRandom(~epoch).nextLong());
        int[] order = IntStream.range(0, count).toArray();
        for (int i = count - 1; i > 0; i--) { // with the draws of Collections.shuffle
            int other = random.nextInt(i + 1);
            int moved = order[i];
            order[i] = order[other];
            order[other] = moved;
        }
        return order;
    }
}
