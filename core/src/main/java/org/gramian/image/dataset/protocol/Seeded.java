package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.gramian.image.dataset.Dataset;

/** A protocol that draws its folds at random, class by class: the same seed gives the same folds. */
public sealed interface Seeded extends Protocol permits Thirds, KFold, Holdout, Half {
    /** Into how many parts every class is divided: each must get an image of it. */
    int parts();

    @Override
    default Optional<String> misfit(Dataset dataset, Duplicates duplicates) {
        int[] units = new int[dataset.classes().size()];
        for (List<Integer> unit : Stratification.units(dataset, duplicates)) {
            TreeSet<Integer> labels = new TreeSet<>();
            unit.forEach(index -> labels.add(dataset.samples().get(index).label()));
            labels.forEach(label -> units[label]++);
        }
        return IntStream.range(0, units.length)
                .filter(label -> units[label] < parts())
                .mapToObj(label -> "it divides every class into " + parts() + " parts, and class '"
                        + dataset.classes().get(label) + "' has "
                        + counted(units[label], dataset.counts().get(label)))
                .findFirst();
    }

    private static String counted(int units, int images) {
        String all = images + (images == 1 ? " image" : " images");
        return units == images ? all : all + ", with " + units + " distinct";
    }
}
