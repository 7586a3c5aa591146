package org.gramian.image.dataset.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class FingerprintTest {
    private static final Dataset DATASET = DatasetTrees.inMemory(9, 7, 8);

    private static Dataset with(int index, Sample sample) {
        List<Sample> samples = new ArrayList<>(DATASET.samples());
        samples.set(index, sample);
        return new Dataset(DATASET.root(), DATASET.classes(), samples);
    }

    @RandomTest
    void dependsOnNamesLabelsAndFolds(Seed seed) {
        SplittableRandom random = seed.random();
        List<Fold> folds = Protocol.parse("kfold:3")
                .plan(DATASET, Duplicates.NONE, seed.value())
                .folds();
        Fingerprint before = Fingerprint.of(DATASET, folds);
        int index = random.nextInt(DATASET.samples().size());
        Sample sample = DATASET.samples().get(index);
        assertThat(Fingerprint.of(with(index, new Sample(sample.name() + "x", sample.label(), sample.file())), folds))
                .isNotEqualTo(before);
        assertThat(Fingerprint.of(
                        with(index, new Sample(sample.name(), (sample.label() + 1) % 3, sample.file())), folds))
                .isNotEqualTo(before);
        int changed = random.nextInt(3);
        for (int kind = 0; kind < 3; kind++) {
            List<Fold> others = new ArrayList<>(folds);
            others.set(changed, moved(folds.get(changed), kind, random));
            assertThat(Fingerprint.of(DATASET, others)).isNotEqualTo(before);
        }
        assertThat(Fingerprint.of(DATASET, folds.subList(0, 2))).isNotEqualTo(before);
        assertThat(Fingerprint.of(DATASET, folds.reversed())).isNotEqualTo(before);
    }

    /** The fold with one training image left out, put to the test, or used to validate. */
    private static Fold moved(Fold fold, int kind, SplittableRandom random) {
        List<Integer> train = new ArrayList<>(fold.train());
        List<Integer> one = List.of(train.get(random.nextInt(train.size())));
        train.removeAll(one);
        List<Integer> test = new ArrayList<>(fold.test());
        test.addAll(kind == 1 ? one : List.of());
        return new Fold(fold.name(), train, kind == 2 ? one : List.of(), test);
    }

    @Test
    void doesNotDependOnRootAndFoldNames() {
        List<Sample> samples = DATASET.samples().stream()
                .map(sample -> new Sample(
                        sample.name(), sample.label(), Path.of("/elsewhere").resolve(sample.file())))
                .toList();
        Dataset moved = new Dataset(Path.of("/elsewhere"), DATASET.classes(), samples);
        Fold fold = Protocol.parse("holdout:0.3")
                .plan(DATASET, Duplicates.NONE, 1)
                .folds()
                .getFirst();
        Fold renamed = new Fold("other", fold.train().reversed(), List.of(), fold.test());
        assertThat(Fingerprint.of(moved, List.of(renamed))).isEqualTo(Fingerprint.of(DATASET, List.of(fold)));
    }

    /** Stored in results: it must not change from version to version without notice. */
    @Test
    void equalsPublishedValues() {
        Dataset four = DatasetTrees.inMemory(2, 2);
        List<Fold> folds = List.of(
                new Fold("one", List.of(0), List.of(2), List.of(1)),
                new Fold("two", List.of(1, 3), List.of(), List.of(0, 2)));
        assertThat(Fingerprint.of(four, folds)) // computed by a program of its own, in Python
                .hasToString("bad2a048de496ad01d2880d95e1cf80be36911b537f93518d6626d5f626272aa");
        FoldSet plan = Protocol.parse("thirds:3").plan(DATASET, Duplicates.NONE, 42);
        assertThat(plan.fingerprint().brief()).isEqualTo("f583268f6dc7");
    }
}
