package org.gramian.image.dataset.protocol;

import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;

/** How many samples of a class (first index) each bin (second index) should get. */
final class Quotas {
    private Quotas() {}

    /** Equal bins: they differ by at most one in every class, and by at most one in all. */
    static int[][] even(Dataset dataset, int bins) {
        int[][] quotas = new int[dataset.classes().size()][bins];
        int[] totals = new int[bins];
        List<Integer> counts = dataset.counts();
        for (int label : byName(dataset)) {
            int count = counts.get(label);
            List<Integer> smallestFirst = IntStream.range(0, bins)
                    .boxed()
                    .sorted(Comparator.comparingInt(bin -> totals[bin]))
                    .toList();
            for (int place = 0; place < bins; place++) {
                int bin = smallestFirst.get(place);
                quotas[label][bin] = count / bins + (place < count % bins ? 1 : 0);
                totals[bin] += quotas[label][bin];
            }
        }
        return quotas;
    }

    /** Two bins of which the second gets a share of every class, rounded, at least one sample and not all. */
    static int[][] share(Dataset dataset, double share) {
        List<Integer> counts = dataset.counts();
        int[][] quotas = new int[counts.size()][2];
        for (int label = 0; label < quotas.length; label++) {
            int count = counts.get(label);
            int test = (int) Math.max(Math.min(1, count), Math.min(count - 1, Math.round(count * share)));
            quotas[label] = new int[] {count - test, test};
        }
        return quotas;
    }

    /** Labels in the order of class names, so that the order of the dataset's classes plays no part. */
    private static List<Integer> byName(Dataset dataset) {
        return IntStream.range(0, dataset.classes().size())
                .boxed()
                .sorted(Comparator.comparing(label -> dataset.classes().get(label)))
                .toList();
    }
}
