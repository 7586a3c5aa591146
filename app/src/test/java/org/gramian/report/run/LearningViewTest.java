package org.gramian.report.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.gramian.report.Chart;
import org.gramian.report.Chart.Line;
import org.gramian.train.event.TrainEvent.EpochDone;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;

class LearningViewTest {
    private static List<EpochDone> run(int first, int second, boolean validated) {
        List<EpochDone> epochs = new ArrayList<>();
        for (int i = 0; i < first + second; i++) {
            double loss = 0.2 + 2 * Math.exp(-(i + 1) / 4.0);
            double accuracy = 0.95 - 0.8 * Math.exp(-(i + 1) / 3.0);
            ValidationScore score =
                    validated ? new ValidationScore(1.1 - accuracy, loss + 0.3) : new ValidationScore(0, loss);
            boolean early = i < first;
            epochs.add(epoch(early ? 1 : 2, early ? i : i - first, early ? 1 : 0.001, loss, accuracy, score));
        }
        return epochs;
    }

    private static EpochDone epoch(
            int stage, int number, double rate, double loss, double accuracy, ValidationScore score) {
        return new EpochDone(
                stage, number, rate, loss, accuracy, score.error(), score.loss(), true, OptionalDouble.empty());
    }

    private static String path(Chart chart, int line) {
        return chart.series().get(line).path();
    }

    @Test
    void marksStagesInEveryChart() {
        List<EpochDone> two = run(6, 4, true);
        assertThat(List.of(LearningView.loss(two), LearningView.accuracy(two), LearningView.learningRate(two)))
                .allSatisfy(chart -> assertThat(chart.rules()).hasSize(1));
        assertThat(LearningView.loss(run(10, 0, true)).rules()).isEmpty();
    }

    @Test
    void nonFiniteValuesAreGaps() {
        List<EpochDone> points = new ArrayList<>(run(5, 0, true));
        points.add(epoch(1, 5, 0, Double.NaN, 0.5, new ValidationScore(Double.NaN, Double.POSITIVE_INFINITY)));
        assertThat(path(LearningView.loss(points), 0).chars().filter(c -> c == 'L'))
                .hasSize(4);
        List<EpochDone> nothing = List.of(epoch(1, 0, 0, Double.NaN, Double.NaN, new ValidationScore(0, Double.NaN)));
        assertThat(path(LearningView.loss(nothing), 0)).isEmpty();
    }

    /** Line after line, no two in the same colour and dash pattern, as far as the patterns reach. */
    @Test
    void linesDifferInColourOrDash() {
        List<List<EpochDone>> runs = Collections.nCopies(32, run(2, 0, true));
        assertThat(LearningView.comparison(Collections.nCopies(32, "run"), runs).orElseThrow().series().stream()
                        .map(series -> List.of(series.colour(), series.dash())))
                .doesNotHaveDuplicates()
                .hasSize(32);
    }

    /** One run without a validation set makes the training accuracy the measure of all. */
    @Test
    void comparesRunsByCommonMetric() {
        List<EpochDone> with = run(4, 0, true);
        List<EpochDone> without = run(4, 0, false);
        assertThat(compared(with, without))
                .isEqualTo(compared(without, without))
                .isNotEqualTo(compared(with, with));
        assertThat(compared(List.of(), List.of())).isEmpty();
    }

    private static Optional<Chart> compared(List<EpochDone> first, List<EpochDone> second) {
        return LearningView.comparison(List.of("a", "b"), List.of(first, second));
    }

    /** The contrast that graphics need on the web (WCAG 2.1, 1.4.11), in the light palette. */
    @Test
    void linesHaveEnoughContrast() throws IOException {
        String light = Files.readAllLines(Path.of("src/main/jte/run/style.jte")).get(1);
        List<Color> palette = Pattern.compile("--k\\d: (#\\w{6})")
                .matcher(light)
                .results()
                .map(match -> Color.decode(match.group(1)))
                .toList();
        assertThat(palette)
                .hasSize(8)
                .allSatisfy(colour -> assertThat((luminance(Color.WHITE) + 0.05) / (luminance(colour) + 0.05))
                        .isGreaterThan(3));
    }

    private static double luminance(Color colour) {
        float[] rgb = colour.getRGBColorComponents(null);
        double[] weights = {0.2126, 0.7152, 0.0722};
        return IntStream.range(0, 3)
                .mapToDouble(i ->
                        weights[i] * (rgb[i] <= 0.03928 ? rgb[i] / 12.92 : Math.pow((rgb[i] + 0.055) / 1.055, 2.4)))
                .sum();
    }

    @Test
    void epochIsPoint() {
        List<EpochDone> epochs = List.of(epoch(2, 4, 0.01, 0.7, 0.8, new ValidationScore(0.25, 0.9)));
        assertThat(LearningView.loss(epochs).lines()).containsExactly(line("training", 0.7), line("validation", 0.9));
        assertThat(LearningView.accuracy(epochs).lines())
                .containsExactly(line("training", 80.0), line("validation", 75.0));
        assertThat(LearningView.learningRate(epochs).lines()).containsExactly(line("learning rate", 0.01));
        assertThat(LearningView.loss(run(1, 0, false)).lines())
                .extracting(Line::name)
                .containsExactly("training");
    }

    private static Line line(String name, double value) {
        return Line.of(name, List.of(value));
    }
}
