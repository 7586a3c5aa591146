package org.gramian.evaluate.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.SplittableRandom;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.MadeUp;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.model.Logits;
import org.gramian.testing.Facts;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class PairedTestTest {
    @Test
    void pValuesMatchHandComputedValues() {
        assertThat(new PairedTest(5, 10, 2, 3).exactP()).isCloseTo(0.03857421875, within(1e-15));
        assertThat(new PairedTest(0, 0, 6, 0).exactP()).isCloseTo(2.0 / 64, within(1e-15));
        assertThat(new PairedTest(9, 4, 4, 9).exactP()).isEqualTo(1);
        assertThat(new PairedTest(9, 0, 0, 1).exactP()).isEqualTo(1);
        assertThat(new PairedTest(9, 0, 0, 1).midP()).isEqualTo(1);
    }

    /** Airway hyper-responsiveness in 21 children, the example of Fagerland, Lydersen and Laake 2014. */
    @Test
    void matchesAPublishedExample() {
        PairedTest children = new PairedTest(1, 1, 7, 12);
        assertThat(children.exactP()).isCloseTo(0.0703125, within(1e-12));
        assertThat(children.midP()).isCloseTo(0.0390625, within(1e-12));
        assertThat(children.difference()).isCloseTo(-0.286, within(5e-4));
        assertThat(children.differenceInterval().low()).isCloseTo(-0.507, within(5e-4));
        assertThat(children.differenceInterval().high()).isCloseTo(-0.026, within(5e-4));
    }

    @RandomTest(times = 50)
    void reversingSwapsTheSigns(Seed seed) {
        SplittableRandom random = seed.random();
        int[] counts = random.ints(4, 0, 40).toArray();
        counts[3]++;
        PairedTest test = new PairedTest(counts[0], counts[1], counts[2], counts[3]);
        PairedTest turned = new PairedTest(counts[0], counts[2], counts[1], counts[3]);
        assertThat(turned.exactP()).isEqualTo(test.exactP());
        assertThat(turned.midP()).isEqualTo(test.midP());
        assertThat(turned.difference()).isEqualTo(-test.difference());
        assertThat(turned.differenceInterval().low())
                .isCloseTo(-test.differenceInterval().high(), within(1e-14));
        assertThat(test.differenceInterval().contains(test.difference())).isTrue();
        assertThat(test.differenceInterval().low()).isGreaterThanOrEqualTo(-1 - 1e-12);
    }

    @Test
    void theOrderOfClassesDoesNotMatter() {
        Evaluation first = new Evaluation(
                MadeUp.SETTING, List.of("a", "b"), List.of(new ImagePrediction("x", 0, Logits.of(1, 0))));
        Evaluation second = new Evaluation(
                MadeUp.SETTING, List.of("b", "a"), List.of(new ImagePrediction("x", 1, Logits.of(0, 1))));
        assertThat(PairedTest.of(first, second)).isEqualTo(new PairedTest(1, 0, 0, 0));
        Evaluation mislabelled = new Evaluation(
                MadeUp.SETTING, List.of("b", "a"), List.of(new ImagePrediction("x", 0, Logits.of(0, 1))));
        refused(first, mislabelled, facts("x", "a", "b"));
    }

    @Test
    void incomparableResultsAreRefusedWithTheReason() {
        Evaluation one = MadeUp.of(2, new int[] {0, 1}, new int[] {0, 1});
        refused(
                one,
                at(one, new Setting("kfold:5", "fold 2", new Fingerprint("b".repeat(64)), 7)),
                facts("thirds:3", "third 1", "aaaaaaaaaaaa", "kfold:5", "fold 2", "bbbbbbbbbbbb"));
        refused(
                one,
                at(one, new Setting("thirds:3", "third 2", new Fingerprint("a".repeat(64)), 7)),
                facts("third 1", "third 2"));
        refused(
                one,
                new Evaluation(MadeUp.SETTING, List.of("class 0", "c"), one.predictions()),
                facts("class 0", "class 1", "c"));
    }

    @Test
    void missingImagesAreListed() {
        Evaluation one = MadeUp.of(2, new int[9], new int[9]);
        Evaluation other = MadeUp.of(2, new int[2], new int[2]);
        refused(one, other, facts("image 2", "image 3", "image 4", "image 5", "image 6", "image 7", "image 8"));
        refused(MadeUp.of(2, new int[40], new int[40]), other, facts("18"));
        refused(other, one, facts("image 2", "image 8"));
    }

    @Test
    void invalidCountsAreRefused() {
        assertRejected(() -> new PairedTest(0, 0, 0, 0));
        assertRejected(() -> new PairedTest(1, -1, 2, 0), "1", "-1", "2", "0");
    }

    private static Evaluation at(Evaluation evaluation, Setting setting) {
        return new Evaluation(setting, evaluation.classes(), evaluation.predictions());
    }

    private static void refused(Evaluation first, Evaluation second, Facts message) {
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> PairedTest.of(first, second))
                .has(message);
    }
}
