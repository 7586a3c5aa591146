package org.gramian.image.dataset.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.DatasetTrees;
import org.gramian.image.dataset.Sample;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class RandomProtocolTest {
    private static final List<String> TEXTS =
            List.of("thirds:1", "thirds:3", "kfold:2", "kfold:5", "holdout:0.2", "holdout:0.9", "half:3");

    private static Dataset random(SplittableRandom random, int least) {
        return DatasetTrees.inMemory(
                random.ints(2 + random.nextInt(5), least, 40).toArray());
    }

    private static FoldSet plan(String text, Dataset dataset, long seed) {
        return Protocol.parse(text).plan(dataset, Duplicates.NONE, seed);
    }

    private static Map<Integer, Integer> counts(Dataset dataset, List<Integer> part) {
        Map<Integer, Integer> counts = new TreeMap<>();
        part.forEach(index -> counts.merge(dataset.samples().get(index).label(), 1, Integer::sum));
        return counts;
    }

    @RandomTest
    void everyFoldHoldsAllSamplesAndTestsEveryClass(Seed seed) {
        Dataset dataset = random(seed.random(), 5);
        for (String text : TEXTS) {
            for (Fold fold : plan(text, dataset, seed.value()).folds()) {
                List<Integer> all = Stream.of(fold.train(), fold.validation(), fold.test())
                        .flatMap(List::stream)
                        .sorted()
                        .toList();
                assertThat(all)
                        .isEqualTo(IntStream.range(0, dataset.samples().size())
                                .boxed()
                                .toList());
                assertThat(counts(dataset, fold.train()))
                        .hasSize(dataset.classes().size());
                assertThat(counts(dataset, fold.test()))
                        .hasSize(dataset.classes().size());
            }
        }
    }

    @RandomTest
    void everySampleIsTestedOnceInPartsOfEqualSize(Seed seed) {
        Dataset dataset = random(seed.random(), 7);
        for (String text : List.of("thirds:3", "kfold:2", "kfold:7")) {
            List<Fold> folds = plan(text, dataset, seed.value()).folds();
            assertThat(folds.stream()
                            .flatMap(fold -> fold.test().stream())
                            .sorted()
                            .toList())
                    .isEqualTo(
                            IntStream.range(0, dataset.samples().size()).boxed().toList());
            assertThat(spread(folds.stream().map(fold -> fold.test().size()).toList()))
                    .isLessThanOrEqualTo(1);
            for (int label = 0; label < dataset.classes().size(); label++) {
                int one = label;
                assertThat(spread(folds.stream()
                                .map(fold -> counts(dataset, fold.test()).getOrDefault(one, 0))
                                .toList()))
                        .isLessThanOrEqualTo(1);
            }
        }
    }

    private static int spread(List<Integer> sizes) {
        return Collections.max(sizes) - Collections.min(sizes);
    }

    @RandomTest
    void foldsDependOnSeed(Seed seed) {
        Dataset dataset = DatasetTrees.inMemory(20, 30, 17);
        for (String text : TEXTS) {
            FoldSet plan = plan(text, dataset, seed.value());
            assertThat(plan(text, dataset, seed.value())).isEqualTo(plan);
            assertThat(plan(text, dataset, seed.value() + 1).folds()).isNotEqualTo(plan.folds());
        }
    }

    @RandomTest
    void foldsDoNotDependOnOrderOfSamplesAndClasses(Seed seed) {
        Dataset dataset = random(seed.random(), 5);
        List<String> classes = new ArrayList<>(dataset.classes());
        Collections.shuffle(classes, seed.random());
        List<Sample> samples = new ArrayList<>();
        dataset.samples()
                .forEach(sample -> samples.add(
                        new Sample(sample.name(), classes.indexOf(dataset.className(sample)), sample.file())));
        Collections.shuffle(samples, seed.random());
        Dataset shuffled = new Dataset(Path.of("elsewhere"), classes, samples);
        for (String text : TEXTS) {
            FoldSet plan = plan(text, dataset, seed.value());
            FoldSet other = plan(text, shuffled, seed.value());
            assertThat(names(shuffled, other)).isEqualTo(names(dataset, plan));
            assertThat(other.fingerprint()).isEqualTo(plan.fingerprint());
        }
    }

    private static List<Set<String>> names(Dataset dataset, FoldSet plan) {
        List<Set<String>> names = new ArrayList<>();
        for (Fold fold : plan.folds()) {
            Set<String> tested = new HashSet<>();
            fold.test().forEach(index -> tested.add(dataset.samples().get(index).name()));
            names.add(tested);
        }
        return names;
    }

    @RandomTest(times = 40)
    void duplicatesStayOnOneSide(Seed seed) {
        SplittableRandom random = seed.random();
        Dataset dataset = random(random, 12);
        Duplicates duplicates = copies(dataset, random);
        for (String text : TEXTS) {
            Protocol protocol = Protocol.parse(text);
            if (protocol.incompatibility(dataset, duplicates).isPresent()) {
                continue;
            }
            FoldSet plan = protocol.plan(dataset, duplicates, seed.value());
            assertThat(plan.notes()).isEmpty();
            for (Fold fold : plan.folds()) {
                Set<Integer> tested = new HashSet<>(fold.test());
                assertThat(duplicates.groups())
                        .allSatisfy(group -> assertThat(
                                        group.stream().filter(tested::contains).count())
                                .isIn(0L, (long) group.size()));
                assertThat(counts(dataset, fold.test()))
                        .hasSize(dataset.classes().size());
            }
        }
    }

    /** Pairs and triples within a class, about a third of all samples. */
    private static Duplicates copies(Dataset dataset, SplittableRandom random) {
        List<List<Integer>> groups = new ArrayList<>();
        for (int i = 0; i + 2 < dataset.samples().size(); i += 3 + random.nextInt(6)) {
            int size = 2 + random.nextInt(2);
            int label = dataset.samples().get(i).label();
            if (dataset.samples().get(i + size - 1).label() == label) {
                groups.add(IntStream.range(i, i + size).boxed().toList());
            }
        }
        return new Duplicates(groups, List.of());
    }

    @Test
    void largeGroupLeavesImagesForEveryPart() {
        Dataset dataset = DatasetTrees.inMemory(10, 10);
        Duplicates eight = new Duplicates(List.of(IntStream.range(0, 8).boxed().toList()), List.of());
        for (Fold fold : Protocol.parse("thirds:3").plan(dataset, eight, 1).folds()) {
            assertThat(counts(dataset, fold.test())).containsOnlyKeys(0, 1);
        }
        Fold fold =
                Protocol.parse("holdout:0.2").plan(dataset, eight, 1).folds().getFirst();
        assertThat(counts(dataset, fold.test())).containsEntry(0, 2).containsEntry(1, 2);
    }

    @Test
    void duplicatesWithDifferentLabelsStayTogether() {
        Dataset dataset = DatasetTrees.inMemory(9, 9);
        FoldSet plan = Protocol.parse("kfold:3").plan(dataset, new Duplicates(List.of(List.of(0, 9)), List.of()), 5);
        assertThat(plan.folds())
                .allSatisfy(fold -> assertThat(fold.test().contains(0))
                        .isEqualTo(fold.test().contains(9)));
        assertThat(plan.notes()).hasSize(1).first().has(facts("1", "class000/00000.jpg = class001/00000.jpg"));
    }

    @Test
    void testFractionIsRoundedToAtLeastOneImage() {
        Dataset dataset = DatasetTrees.inMemory(100, 10, 2, 8);
        Fold fold = plan("holdout:0.2", dataset, 3).folds().getFirst();
        assertThat(counts(dataset, fold.test())).isEqualTo(Map.of(0, 20, 1, 2, 2, 1, 3, 2));
        Fold most = plan("holdout:0.99", dataset, 3).folds().getFirst();
        assertThat(counts(dataset, most.train())).isEqualTo(Map.of(0, 1, 1, 1, 2, 1, 3, 1));
        Fold half = plan("half:1", DatasetTrees.inMemory(5, 4), 3).folds().getFirst();
        assertThat(half.train()).hasSize(5);
        assertThat(half.test()).hasSize(4);
    }

    @Test
    void drawsDoNotDependOnTheirNumber() {
        Dataset dataset = DatasetTrees.inMemory(20, 20);
        List<Fold> folds = plan("half:14", dataset, 9).folds();
        assertThat(folds).doesNotHaveDuplicates().hasSize(14);
        assertThat(folds.stream().map(Fold::test)).doesNotHaveDuplicates();
        assertThat(plan("half:3", dataset, 9).folds()).isEqualTo(folds.subList(0, 3));
        assertThat(plan("thirds:2", dataset, 9).folds())
                .isEqualTo(plan("thirds:3", dataset, 9).folds().subList(0, 2));
    }

    @Test
    void rejectsTooSmallClassAndListsFittingProtocols() {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> plan("kfold:5", DatasetTrees.inMemory(10, 3), 1))
                .has(facts("kfold:5", "5", "class001", "3", "holdout:0.2", "kfold:3"));
        assertRejected(() -> plan("holdout:0.2", DatasetTrees.inMemory(10, 1), 1), "class001", "1", "2");
        Duplicates copies = new Duplicates(List.of(List.of(0, 1, 2)), List.of());
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Protocol.parse("thirds:3").plan(DatasetTrees.inMemory(4, 9), copies, 1))
                .has(facts("class000", "4", "2", "holdout:0.2", "kfold:2"));
    }
}
