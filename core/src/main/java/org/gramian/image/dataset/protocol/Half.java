package org.gramian.image.dataset.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.dataset.Dataset;

/**
 * {@code half:14}: a random half of every class trains and the other tests, drawn anew for every fold; in use for FMD
 * with 14 draws. The larger half of an odd number trains. The first draws are the same however many there are.
 *
 * @param draws how many folds, 1 to 100
 */
public record Half(int draws) implements Seeded {
    /** As published for FMD. */
    static final int DEFAULT = 14;

    public Half {
        Protocols.requireBetween("half", draws, 1, KFold.MOST);
    }

    @Override
    public String text() {
        return "half:" + draws;
    }

    @Override
    public int parts() {
        return 2;
    }

    @Override
    public List<Fold> folds(Dataset dataset, Duplicates duplicates, long seed) {
        int[][] quotas = dataset.counts().stream()
                .map(count -> new int[] {Math.ceilDiv(count, 2), count / 2})
                .toArray(int[][]::new);
        SplittableRandom random = new SplittableRandom(seed);
        List<Fold> folds = new ArrayList<>();
        for (int draw = 1; draw <= draws; draw++) {
            int[] bins = Stratification.deal(dataset, duplicates, quotas, random.split());
            folds.add(Bins.testing(bins, 1, "draw " + draw));
        }
        return folds;
    }
}
