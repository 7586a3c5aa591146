package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.dataset.Dataset;

/**
 * {@code thirds:3}: every class in random thirds, two to train and one to test, each third once; the paper's protocol
 * for DTD and FMD.
 *
 * @param folds how many of the three folds are run, 1 to 3
 */
public record Thirds(int folds) implements Seeded {
    /** All thirds test once, as in the reference figures. */
    static final int DEFAULT = 3;

    private static final int PARTS = 3;

    public Thirds {
        Protocols.requireBetween("thirds", folds, 1, PARTS);
    }

    @Override
    public String text() {
        return "thirds:" + folds;
    }

    @Override
    public int parts() {
        return PARTS;
    }

    @Override
    public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        int[] thirds =
                Stratification.deal(dataset, duplicates, Quotas.even(dataset, PARTS), new SplittableRandom(seed));
        return Bins.rotate(thirds, folds, "third");
    }
}
