package org.gramian.image.dataset.protocol;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.dataset.Dataset;

/**
 * {@code kfold:5}: every class in so many random parts, each of which tests once while all others train.
 *
 * @param parts 2 to 100
 */
public record KFold(int parts) implements Seeded {
    /** The usual number: tests on a fifth of the images at a time, for five times the cost of one run. */
    static final int DEFAULT = 5;

    /** Beyond it there is one training run after the other and nothing to learn from their difference. */
    static final int MOST = 100;

    public KFold {
        Protocols.requireBetween("kfold", parts, 2, MOST);
    }

    @Override
    public String text() {
        return "kfold:" + parts;
    }

    @Override
    public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        int[] bins = Stratification.deal(dataset, duplicates, Quotas.even(dataset, parts), new SplittableRandom(seed));
        return Bins.rotate(bins, parts, "fold");
    }
}
