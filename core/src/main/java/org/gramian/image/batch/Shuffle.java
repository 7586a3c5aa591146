package org.gramian.image.batch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** The order of an epoch of training: each epoch another one, all of them decided by the seed. */
public final class Shuffle {
    private Shuffle() {}

    /** The numbers below a count, shuffled as a list of them would be, for counts at which a list takes too much memory. */
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

    /** A shuffled copy that depends on the list, the seed and the number of the epoch. */
    public static <T> List<T> epoch(List<T> items, long seed, long epoch) {
        List<T> shuffled = new ArrayList<>(items);
        Collections.shuffle(shuffled, random(seed, epoch));
        return shuffled;
    }

    private static RandomGenerator random(long seed, long epoch) {
        // Through two generators, for neighbouring seeds of one generator may only shift its numbers.
        return new SplittableRandom(new SplittableRandom(seed).nextLong() ^ new SplittableRandom(~epoch).nextLong());
    }
}
