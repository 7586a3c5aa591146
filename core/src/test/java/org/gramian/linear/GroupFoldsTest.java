package org.gramian.linear;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.tensor.Scope;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

class GroupFoldsTest {
    /** So many crops of each of so many images. */
    private static SyntheticRows crops(SplittableRandom random, int images, int crops) {
        return SyntheticRows.of(random, images, 2, 3).repeated(crops).permuted(random);
    }

    @RandomTest
    void groupsAndNearDuplicatesStayTogether(Seed seed) {
        SyntheticRows rows = crops(seed.random(), 60, 2);
        int[] duplicates = IntStream.range(0, rows.count())
                .map(i -> rows.groups()[i] < 4 ? -1 : 1000 * rows.labels()[i] + rows.groups()[i] / 5)
                .toArray(); // the first four images may be of several classes
        try (Scope _ = Scope.open()) {
            requireTogether(rows, rows.groups(), GroupFolds.of(rows.rows()));
            requireTogether(rows, duplicates, GroupFolds.of(rows.rows().withDuplicates(duplicates)));
        }
    }

    private static void requireTogether(SyntheticRows rows, int[] duplicates, GroupFolds folds) {
        Map<Integer, Integer> seen = new HashMap<>();
        for (int i = 0; i < rows.count(); i++) {
            Integer before = seen.put(duplicates[i], folds.foldOfRow().get(i));
            assertThat(before).isIn(null, folds.foldOfRow().get(i));
        }
        for (int fold = 0; fold < folds.count(); fold++) {
            assertThat(labels(rows, folds.rows(fold, true))).hasSize(3);
            assertThat(labels(rows, folds.rows(fold, false))).hasSize(3);
        }
    }

    @Test
    void classOfNearDuplicatesOnlyIsSplitByImages() {
        SyntheticRows rows = crops(new SplittableRandom(1), 30, 2);
        try (Scope _ = Scope.open()) {
            GroupFolds plain = GroupFolds.of(rows.rows());
            assertThat(plain.count()).isGreaterThan(1);
            assertThat(GroupFolds.of(rows.rows().withDuplicates(rows.labels()))).isEqualTo(plain);
        }
    }

    private static Set<Integer> labels(SyntheticRows rows, int[] which) {
        Set<Integer> labels = new HashSet<>();
        IntStream.of(which).forEach(i -> labels.add(rows.labels()[i]));
        return labels;
    }

    @RandomTest
    void orderOfRowsDoesNotMatter(Seed seed) {
        SyntheticRows rows = crops(seed.random(), 20, 2);
        SyntheticRows others = rows.permuted(seed.random());
        try (Scope _ = Scope.open()) {
            assertThat(foldOfGroups(others)).isEqualTo(foldOfGroups(rows));
        }
    }

    private static Map<Integer, Integer> foldOfGroups(SyntheticRows rows) {
        GroupFolds folds = GroupFolds.of(rows.rows());
        Map<Integer, Integer> fold = new HashMap<>();
        IntStream.range(0, rows.count())
                .forEach(i -> fold.put(rows.groups()[i], folds.foldOfRow().get(i)));
        return fold;
    }
}
