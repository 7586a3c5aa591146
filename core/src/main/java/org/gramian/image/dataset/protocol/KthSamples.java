package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.gramian.image.dataset.Assignment;
import org.gramian.image.dataset.Dataset;

/**
 * {@code kth-1v3} and {@code kth-3v1}: KTH-TIPS-2b by its four physical samples. The first, which is the paper's, trains
 * on one sample of every class and tests on the other three; the second the other way round. Four folds each.
 *
 * @param oneTrains whether one sample trains, rather than tests
 */
public record KthSamples(boolean oneTrains) implements Official {
    static final String LAYOUT = "kth-tips-2b";

    private static final int SAMPLES = 4;

    @Override
    public String text() {
        return oneTrains ? "kth-1v3" : "kth-3v1";
    }

    @Override
    public Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        if (!(dataset.assignment() instanceof Assignment.Groups(List<String> letters))) {
            return PublishedSplits.wrongLayout(dataset, LAYOUT).or(() -> Optional.of("it has no physical samples"));
        }
        SortedSet<String> all = new TreeSet<>(letters);
        if (all.size() != SAMPLES) {
            return Optional.of("it needs " + SAMPLES + " samples of every class, found " + all);
        }
        TreeMap<String, SortedSet<String>> ofClass = new TreeMap<>();
        for (int i = 0; i < letters.size(); i++) {
            String category = dataset.className(dataset.samples().get(i));
            ofClass.computeIfAbsent(category, _ -> new TreeSet<>()).add(letters.get(i));
        }
        return ofClass.entrySet().stream()
                .filter(found -> found.getValue().size() < SAMPLES)
                .map(found -> "it needs the samples " + all + " of every class, found only " + found.getValue()
                        + " of '" + found.getKey() + "'")
                .findFirst();
    }

    @Override
    public List<Fold> folds(Dataset dataset) {
        if (!(dataset.assignment() instanceof Assignment.Groups(List<String> letters))) {
            return List.of();
        }
        List<String> names = letters.stream().distinct().sorted().toList();
        int[] sampleOf = letters.stream().mapToInt(names::indexOf).toArray();
        return names.stream()
                .map(name -> fold(sampleOf, names.indexOf(name), name))
                .toList();
    }

    private Fold fold(int[] sampleOf, int sample, String letter) {
        List<Integer> one = Bins.samples(sampleOf, found -> found == sample);
        List<Integer> others = Bins.samples(sampleOf, found -> found != sample);
        String name = "sample " + letter;
        return oneTrains ? new Fold(name, one, List.of(), others) : new Fold(name, others, List.of(), one);
    }
}
