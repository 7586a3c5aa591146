package org.gramian.evaluate.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.gramian.testing.Facts.assertRejected;

import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.Evaluation.Setting;
import org.gramian.evaluate.MadeUp;
import org.gramian.evaluate.compare.FoldSummary.Spread;
import org.gramian.image.dataset.protocol.Fingerprint;
import org.gramian.testing.RandomTest;
import org.gramian.testing.Seed;
import org.junit.jupiter.api.Test;

final class FoldSummaryTest {
    private static Evaluation fold(Evaluation evaluation, String fold) {
        Setting old = evaluation.setting();
        return new Evaluation(
                new Setting(old.protocol(), fold, old.fingerprint(), old.seed()),
                evaluation.classes(),
                evaluation.predictions());
    }

    @RandomTest
    void everyMetricHasItsMeanAndSampleDeviation(Seed seed) {
        SplittableRandom random = seed.random();
        List<Evaluation> folds = IntStream.range(0, 4)
                .mapToObj(i -> fold(MadeUp.evaluation(random, 30, 6), "fold " + i))
                .toList();
        FoldSummary summary = FoldSummary.of(folds);
        for (Metric metric : Metric.values()) {
            double[] values = folds.stream().mapToDouble(metric::of).toArray();
            double sum = 0;
            double squares = 0;
            for (double value : values) {
                sum += value;
                squares += value * value;
            }
            Spread spread = summary.spread(metric);
            assertThat(spread.mean()).isCloseTo(sum / 4, within(1e-12));
            assertThat(Math.pow(spread.deviation().orElseThrow(), 2))
                    .isCloseTo((squares - sum * sum / 4) / 3, within(1e-12));
        }
    }

    @Test
    void textShowsMeanAndDeviationInAnyLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.GERMANY);
            Spread spread = Spread.of(List.of(0.724, 0.753, 0.782));
            assertThat(spread.text(Metric.ACCURACY)).isEqualTo("75.3 ± 2.9");
            assertThat(spread.text(Metric.LOG_LOSS)).isEqualTo("0.753 ± 0.029");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void foldsOfDifferentTasksAreNotAveraged() {
        Evaluation one = MadeUp.of(2, new int[] {0}, new int[] {0});
        Setting elsewhere = new Setting("thirds:3", "third 2", new Fingerprint("b".repeat(64)), 7);
        Evaluation other = new Evaluation(elsewhere, one.classes(), one.predictions());
        assertRejected(
                () -> FoldSummary.of(List.of(one, other)), "aaaaaaaaaaaa", "thirds:3", "third 2", "bbbbbbbbbbbb");
        assertRejected(() -> FoldSummary.of(List.of(one, one)), "fold");
        assertRejected(() -> FoldSummary.of(List.of()));
        assertRejected(() -> Spread.of(List.of()));
    }
}
