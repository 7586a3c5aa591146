package org.gramian.image.batch;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** The order of an epoch of training: each epoch another one, all of them decided by the seed. */
public final class Shuffle {
    private Shuffle() {}

    /** A shuffled copy that depends on the list, the seed and the number of the epoch. */
    public static <T> List<T> epoch(List<T> items, long seed, long epoch) {
        List<T> shuffled = new ArrayList<>(items);
        // Through two generators, for neighbouring seeds of one generator may only shift its numbers.
        long mixed = new SplittableRandom(seed).nextLong() ^ new SplittableRandom(~epoch).nextLong();
        Collections.shuffle(shuffled, new SplittableRandom(mixed));
        return shuffled;
    }
}
