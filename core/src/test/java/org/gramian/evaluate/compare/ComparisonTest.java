package org.gramian.evaluate.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.MadeUp;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ComparisonTest {
    /** Folds of which each tests its own images, unless they are to repeat. */
    private static List<Evaluation> folds(RandomGenerator random, int count, boolean repeat) {
        List<Evaluation> folds = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            String prefix = repeat ? "" : i + "/";
            int number = i;
            List<ImagePrediction> predictions = new ArrayList<>();
            for (int k = 0; k < 10 + (repeat ? 0 : number); k++) {
                predictions.add(new ImagePrediction(prefix + k, k % 3, Logits.of(MadeUp.scores(random, 3, 1))));
            }
            folds.add(new Evaluation(third("third " + i), MadeUp.classes(3), predictions));
        }
        return folds;
    }

    private static Setting third(String fold) {
        return new Setting("thirds:3", fold, MadeUp.SETTING.fingerprint(), 7);
    }

    @RandomTest
    void theTestCountsTheImagesOfAllFolds(Seed seed) {
        RandomGenerator random = seed.random();
        List<Evaluation> first = folds(random, 3, false);
        List<Evaluation> second = folds(random, 3, false);
        Comparison comparison = Comparison.of(first, second.reversed());
        PairedTest test = comparison.test();
        assertThat(test.images()).isEqualTo(36);
        assertThat(test.bothRight() + test.onlyFirst())
                .isEqualTo(
                        first.stream().mapToInt(one -> one.accuracy().right()).sum());
        assertThat(test.bothRight() + test.onlySecond())
                .isEqualTo(
                        second.stream().mapToInt(one -> one.accuracy().right()).sum());
        assertThat(comparison.first()).isEqualTo(FoldSummary.of(first));
        assertThat(comparison.second().spread(Metric.ACCURACY).mean())
                .isEqualTo(FoldSummary.of(second).spread(Metric.ACCURACY).mean());
        assertThat(comparison.repeated()).isZero();
        PairedTest turned = Comparison.of(second, first).test();
        assertThat(turned.onlyFirst()).isEqualTo(test.onlySecond());
        assertThat(turned.onlySecond()).isEqualTo(test.onlyFirst());
    }

    @RandomTest(times = 3)
    void repeatedTestImagesAreCounted(Seed seed) {
        List<Evaluation> four = folds(seed.random(), 4, true);
        assertThat(Comparison.of(four, four).repeated()).isEqualTo(30);
    }

    @RandomTest(times = 3)
    void incomparableResultsAreRefusedWithTheReason(Seed seed) {
        List<Evaluation> three = folds(seed.random(), 3, false);
        assertRefused(three, three.subList(0, 2), facts("third 3"));
        assertRefused(three.subList(1, 2), three.subList(0, 1), facts("third 1", "third 2"));
        Evaluation one = three.getFirst();
        Evaluation again = new Evaluation(
                new Setting("thirds:3", "third 1", one.setting().fingerprint(), 8), one.classes(), one.predictions());
        assertRefused(List.of(one, again), List.of(one), facts("third 1"));
        Evaluation elsewhere = new Evaluation(
                new Setting("thirds:3", "third 1", new Fingerprint("b".repeat(64)), 7),
                one.classes(),
                one.predictions());
        assertRefused(List.of(one), List.of(elsewhere), facts("aaaaaaaaaaaa", "bbbbbbbbbbbb"));
    }

    private static void assertRefused(List<Evaluation> first, List<Evaluation> second, Facts words) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> Comparison.of(first, second))
                .satisfies(refused -> assertThat(refused.getMessage()).has(words));
    }

    @RandomTest(times = 1)
    void runIsReadInTheOrderOfItsFolds(Seed seed, @TempDir Path run) throws IOException {
        List<Evaluation> folds = folds(seed.random(), 11, false);
        for (int i = 0; i < folds.size(); i++) {
            Path file = run.resolve(EvaluationFile.fold(i + 1)).resolve(EvaluationFile.FILE);
            Files.createDirectories(run.resolve("fold-" + (i + 1)));
            EvaluationFile.write(file, folds.get(i));
        }
        Files.createDirectories(run.resolve("curves"));
        assertThat(EvaluationFile.readAll(run)).isEqualTo(folds);
        assertThat(EvaluationFile.readAll(run.resolve("fold-10/evaluation.json")))
                .containsExactly(folds.get(9));
        assertThat(EvaluationFile.readAll(run.resolve("fold-1"))).containsExactly(folds.getFirst());
        Files.delete(run.resolve(EvaluationFile.fold(4)).resolve(EvaluationFile.FILE));
        assertThatIOException().isThrownBy(() -> EvaluationFile.readAll(run)).withMessageContaining("fold-4");
    }

    @Test
    void aFolderWithoutEvaluationsIsRefused(@TempDir Path folder) {
        assertThatIOException()
                .isThrownBy(() -> EvaluationFile.readAll(folder))
                .withMessageContaining("fold-*/evaluation.json");
        assertRejected(
                IOException.class, () -> EvaluationFile.readAll(folder.resolve("absent")), folder.resolve("absent"));
    }
}
