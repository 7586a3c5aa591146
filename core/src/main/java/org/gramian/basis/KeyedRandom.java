package org.gramian.basis;

import java.util.SplittableRandom;

/** Random generators that depend on a key alone, such as (seed, epoch, image), and not on the order or thread of calls. */
public final class KeyedRandom {
    private static final long GOLDEN_RATIO = 0x9e3779b97f4a7c15L;

    private KeyedRandom() {}

    /** Returns a generator seeded by a hash of the key; keys that differ in one bit give unrelated numbers. */
    public static SplittableRandom of(long... key) {
        long hash = key.length;
        for (long part : key) {
            hash = mix(hash * GOLDEN_RATIO + mix(part + GOLDEN_RATIO));
        }
        return new SplittableRandom(hash);
    }

    /** The 64-bit finalizer of MurmurHash3 (Appleby), variant 13 of Stafford. */
    private static long mix(long value) {
        long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
