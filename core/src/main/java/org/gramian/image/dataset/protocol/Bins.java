package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Makes folds of samples that were put into bins: one bin tests, the others train. */
final class Bins {
    private Bins() {}

    /** One fold for each of the first few bins, named by their number from 1. */
    static List<Fold> rotate(int[] binOfSample, int folds, String name) {
        return IntStream.range(0, folds)
                .mapToObj(bin -> testing(binOfSample, bin, name + " " + (bin + 1)))
                .toList();
    }

    /** The fold that tests one bin and trains on all others. */
    static Fold testing(int[] binOfSample, int tested, String name) {
        return new Fold(
                name,
                samples(binOfSample, bin -> bin != tested),
                List.of(),
                samples(binOfSample, bin -> bin == tested));
    }

    /** The samples whose bin is wanted, in their order. */
    static List<Integer> samples(int[] binOfSample, IntPredicate wanted) {
        return IntStream.range(0, binOfSample.length)
                .filter(index -> wanted.test(binOfSample[index]))
                .boxed()
                .toList();
    }
}
