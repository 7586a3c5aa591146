package org.gramian.image.dataset.protocol;

import java.math.BigDecimal;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.dataset.Dataset;

/**
 * {@code holdout:0.2}: one fold that tests a random share of every class, rounded, but at least one image.
 *
 * @param share the share that tests, above 0 and below 1
 */
public record Holdout(double share) implements Seeded {
    /** A fifth: one training run, as one fold of {@code kfold:5}. */
    static final double DEFAULT = 0.2;

    public Holdout {
        if (!(share > 0 && share < 1)) {
            throw new IllegalArgumentException(
                    "expected holdout:<fraction> with a fraction above 0 and below 1, found " + share);
        }
    }

    @Override
    public String text() {
        return "holdout:" + BigDecimal.valueOf(share).stripTrailingZeros().toPlainString();
    }

    @Override
    public int parts() {
        return 2;
    }

    @Override
    public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        int[] bins = Stratification.deal(dataset, duplicates, Quotas.share(dataset, share), new SplittableRandom(seed));
        return List.of(Bins.testing(bins, 1, "holdout"));
    }
}
