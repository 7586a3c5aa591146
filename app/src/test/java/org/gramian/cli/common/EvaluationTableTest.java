package org.gramian.cli.common;

import static org.assertj.core.api.Assertions.assertThat;
import static org.gramian.testing.Facts.facts;

import java.util.List;
import java.util.stream.IntStream;
import org.gramian.cli.MadeUpEvaluation;
import org.gramian.evaluate.Calibration.Temperature;
import org.gramian.evaluate.ConfusionMatrix;
import org.gramian.evaluate.Evaluation;
import org.gramian.evaluate.Evaluation.ImagePrediction;
import org.gramian.evaluate.Evaluation.Metric;
import org.gramian.evaluate.compare.FoldSummary;
import org.gramian.model.Logits;
import org.junit.jupiter.api.Test;

class EvaluationTableTest {
    /** Of four images of wood one is predicted as glass with high confidence; the image of glass is predicted correctly. */
    private static final Evaluation SMALL = new Evaluation(
            MadeUpEvaluation.setting("third 1"),
            List.of("glass", "stone", "wood"),
            List.of(
                    new ImagePrediction("wood/1.png", 2, Logits.of(0, 0, 1)),
                    new ImagePrediction("wood/2.png", 2, Logits.of(0, 0, 1)),
                    new ImagePrediction("wood/3.png", 2, Logits.of(9, 0, 1)),
                    new ImagePrediction("wood/4.png", 2, Logits.of(0, 0, 1)),
                    new ImagePrediction("glass/1.png", 0, Logits.of(3, 0, 1))));

    private static List<String> lines(Evaluation evaluation) {
        return new EvaluationTable(evaluation).text().lines().toList();
    }

    @Test
    void metricsComeFirst() {
        assertThat(lines(SMALL).subList(0, 5))
                .satisfiesExactly(
                        what -> assertThat(what).has(facts("5", "2", "thirds:3", "third 1", "aaaaaaaaaaaa")),
                        blank -> assertThat(blank).isEmpty(),
                        line -> assertThat(line).has(facts("accuracy", "80.0 %", "95 %", "37.6", "96.4", "4", "5")),
                        line -> assertThat(line).has(facts("balanced accuracy", "87.5 %")),
                        line -> assertThat(line).has(facts("macro F1", "76.2 %")));
        assertThat(lines(SMALL).get(7)).has(facts("calibration error", "not calibrated"));
    }

    @Test
    void showsCalibrationErrorBeforeAndAfterTemperature() {
        Evaluation calibrated = SMALL.calibrated(new Temperature(2, "9 validation images"));
        String before = Metric.CALIBRATION_ERROR.show(SMALL.calibration().error());
        String after = Metric.CALIBRATION_ERROR.show(calibrated.calibration().error());
        assertThat(before).isNotEqualTo(after);
        assertThat(lines(calibrated).get(7))
                .has(facts("calibration error", after, "9 validation images", "2.000", before));
    }

    @Test
    void classTableIncludesConfusionMatrix() {
        assertThat(lines(SMALL))
                .anySatisfy(line -> assertThat(line).contains(ConfusionMatrix.ORIENTATION))
                .anySatisfy(line -> assertThat(line).matches("class +\\w+ +precision +recall +F1 +a +b +c"))
                .containsSequence(
                        "a glass       1       50.0   100.0  66.7    1  .  .",
                        "b stone       0          -       -     -    .  .  .",
                        "c wood        4      100.0    75.0  85.7    1  .  3");
    }

    @Test
    void showsHardestOfManyClasses() {
        List<String> lines = lines(MadeUpEvaluation.of(1, "third 1", 60, 2));
        assertThat(lines)
                .haveExactly(1, facts("20", "60"))
                .hasSizeLessThan(60)
                .anyMatch(line -> line.matches("\\D+\\d+ pairs"))
                .anyMatch(line -> line.matches(" {2}\\d× kind\\d+ [a-z ]+ kind\\d+"))
                .allMatch(line -> line.length() <= 110);
    }

    @Test
    void escapesControlCharactersInNames() {
        Evaluation hostile = new Evaluation(
                MadeUpEvaluation.setting("third\u001b[2J"),
                List.of("a\u001b[31m", "b\u0007"),
                List.of(new ImagePrediction("x\u001b[0m", 0, Logits.of(0, 1))));
        assertThat(new EvaluationTable(hostile).text()).doesNotContain("\u001b", "\u0007");
    }

    @Test
    void summarizesFoldsByMeanAndDeviation() {
        List<Evaluation> folds = IntStream.rangeClosed(1, 3)
                .mapToObj(i -> MadeUpEvaluation.of(i, "third " + i, 6, 2))
                .toList();
        FoldSummary summary = FoldSummary.of(folds);
        List<String> lines = EvaluationTable.ofFolds(folds).lines().toList();
        assertThat(lines).hasSize(1 + Metric.values().length);
        assertThat(lines.getFirst()).matches("\\D+3 folds +mean ± std +third 1 +third 2 +third 3");
        assertThat(lines.get(1))
                .startsWith("accuracy %")
                .contains(summary.text(Metric.ACCURACY))
                .endsWith(Metric.ACCURACY.show(folds.get(2).accuracy().value()));
    }
}
