package org.gramian.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;
import org.gramian.image.dataset.protocol.Duplicates;
import org.gramian.image.dataset.protocol.Fold;
import org.gramian.run.FoldPlan.ValidationSplit;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.gramian.train.loop.TrainingData.Parts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Training, validation and test sets; the files hold a line of text, since no test here decodes them. */
class FoldPlanTest {
    @TempDir
    private Path folder = Path.of("");

    private final List<String> remarks = new ArrayList<>();

    /** Creates files of each class with given contents; equal contents are duplicates. */
    private Dataset dataset(int copies, int... counts) throws IOException {
        List<String> classes =
                IntStream.range(0, counts.length).mapToObj(label -> "c" + label).toList();
        List<Sample> samples = new ArrayList<>();
        for (int label = 0; label < counts.length; label++) {
            for (int i = 0; i < counts[label]; i++) {
                String name = "c%d-%03d".formatted(label, i);
                Path file = Files.writeString(folder.resolve(name), "class " + label + " content " + i / copies);
                samples.add(new Sample(name, label, file));
            }
        }
        return new Dataset(folder, classes, samples);
    }

    private static Set<Integer> all(Dataset dataset) {
        return IntStream.range(0, dataset.samples().size()).boxed().collect(Collectors.toSet());
    }

    /** Every third image tests, all others train. */
    private static Fold fold(Dataset dataset) {
        return new Fold(
                "a third",
                all(dataset).stream().filter(index -> index % 3 != 0).toList(),
                List.of(),
                all(dataset).stream().filter(index -> index % 3 == 0).toList());
    }

    private Parts parts(Dataset dataset, Fold fold, double share, long seed) {
        return parts(dataset, fold, share, false, seed);
    }

    private Parts parts(Dataset dataset, Fold fold, double share, boolean wanted, long seed) {
        return FoldPlan.of(
                        dataset,
                        "",
                        fold,
                        all(dataset),
                        new ValidationSplit(share, wanted, seed, Duplicates.of(dataset), remarks::add))
                .parts();
    }

    private static long of(List<Sample> samples, int label) {
        return samples.stream().filter(sample -> sample.label() == label).count();
    }

    @RandomTest(times = 6)
    void validationSetIsStratified(Seed seed) throws IOException {
        SplittableRandom random = seed.random();
        int[] counts = random.ints(3, 6, 40).toArray();
        double share = random.nextDouble(0.05, 0.6);
        Dataset dataset = dataset(1, counts);
        Parts undivided = parts(dataset, fold(dataset), 0, 1);
        Parts parts = parts(dataset, fold(dataset), share, 1);
        assertThat(undivided.validation()).isEmpty();
        for (int label = 0; label < counts.length; label++) {
            long trained = of(undivided.training(), label);
            long wanted = Math.clamp(Math.round(share * trained), 1, trained - 1);
            assertThat(of(parts.validation(), label)).isEqualTo(wanted);
            assertThat(of(parts.training(), label)).isEqualTo(trained - wanted);
        }
        assertThat(remarks).isEmpty();
    }

    @RandomTest(times = 6)
    void validationImagesComeFromTheTrainingSet(Seed seed) throws IOException {
        Dataset dataset = dataset(1, seed.random().ints(3, 6, 20).toArray());
        Fold fold = fold(dataset);
        Parts parts = parts(dataset, fold, 0.3, seed.value());
        assertThat(parts.test())
                .isEqualTo(fold.test().stream().map(dataset.samples()::get).toList());
        Set<Sample> both = new HashSet<>(parts.training());
        both.addAll(parts.validation());
        assertThat(both)
                .hasSize(parts.training().size() + parts.validation().size())
                .isEqualTo(fold.train().stream().map(dataset.samples()::get).collect(Collectors.toSet()));
    }

    @Test
    void tooFewDistinctImagesGiveNoValidationSet() throws IOException {
        Fold twoAndOne = new Fold("few", List.of(0, 1, 3), List.of(), List.of(2, 4));
        Dataset dataset = dataset(1, 3, 2);
        requireNoValidationSet(dataset, twoAndOne);
        Dataset copies = dataset(2, 4, 4);
        Fold sameTwice = new Fold("few", List.of(0, 1, 2, 4, 5), List.of(), List.of(3, 6, 7));
        requireNoValidationSet(copies, sameTwice);
    }

    private void requireNoValidationSet(Dataset dataset, Fold fold) {
        remarks.clear();
        Parts parts = parts(dataset, fold, 0.5, 1);
        assertThat(parts.validation()).isEmpty();
        assertThat(parts.training()).hasSameSizeAs(fold.train());
        assertThat(remarks).singleElement().asString().has(facts("'few'", "loss"));
    }

    @RandomTest(times = 6)
    void everyImageOfAGivenSplitIsUsedOnce(Seed seed) throws IOException {
        Dataset dataset = dataset(1, 9, 12);
        List<List<Integer>> parts = IntStream.range(0, 3)
                .mapToObj(part ->
                        all(dataset).stream().filter(index -> index % 3 == part).toList())
                .toList();
        Fold fold = new Fold("given", parts.get(0), parts.get(1), parts.get(2));
        for (double share : new double[] {0, 0.3}) {
            for (boolean wanted : new boolean[] {false, true}) {
                remarks.clear();
                Parts used = parts(dataset, fold, share, wanted, seed.value());
                assertThat(Stream.of(used.training(), used.validation(), used.test())
                                .flatMap(List::stream))
                        .containsExactlyInAnyOrderElementsOf(dataset.samples());
                assertThat(used.validation())
                        .hasSize(wanted ? (share == 0 ? 0 : 4) : parts.get(1).size());
                assertThat(remarks).hasSize(wanted ? 1 : 0);
            }
        }
    }

    @Test
    void unreadableValidationSetIsReported() throws IOException {
        Dataset dataset = dataset(1, 4, 4);
        Fold fold = new Fold("given", List.of(0, 1, 4, 5), List.of(2, 6), List.of(3, 7));
        ValidationSplit split = new ValidationSplit(0, false, 1, Duplicates.of(dataset), remarks::add);
        FoldPlan plan = FoldPlan.of(dataset, "", fold, Set.of(0, 1, 3, 4, 5, 7), split);
        assertThat(plan.parts().validation()).isEmpty();
        assertThat(plan.validationSource()).isEmpty();
        assertThat(remarks).singleElement().asString().has(facts("2", "'given'"));
    }

    @Test
    void classesWithoutReadableTrainingImageAreNamed() throws IOException {
        Dataset dataset = dataset(1, 3, 3, 3);
        Fold fold = new Fold("the fold", List.of(0, 1, 3, 4, 6, 7), List.of(), List.of(2, 5, 8));
        ValidationSplit split = new ValidationSplit(0.3, false, 1, Duplicates.of(dataset), remarks::add);
        assertThatThrownBy(() -> FoldPlan.of(dataset, "", fold, Set.of(2, 3, 4, 5, 8), split))
                .isInstanceOf(UnfitDataException.class)
                .hasMessageContaining("'the fold'")
                .hasMessageContaining("'c0', 'c2';");
    }
}
