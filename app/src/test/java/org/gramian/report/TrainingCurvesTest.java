package org.gramian.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.gramian.testing.Facts.facts;

import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.gramian.report.chart.Chart.Line;
import org.gramian.report.chart.ChartImage;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Learning curves: their values, and as images what must be in them, looked up pixel by pixel. */
class TrainingCurvesTest {
    private static List<EpochDone> run(int first, int second, boolean validated) {
        List<EpochDone> epochs = new ArrayList<>();
        for (int i = 0; i < first + second; i++) {
            double loss = 0.2 + 2 * Math.exp(-(i + 1) / 4.0);
            double accuracy = 0.95 - 0.8 * Math.exp(-(i + 1) / 3.0);
            ValidationScore score = validated ? new ValidationScore(1.1 - accuracy, loss + 0.3) : none(loss);
            boolean early = i < first;
            epochs.add(epoch(early ? 1 : 2, early ? i : i - first, early ? 1 : 0.001, loss, accuracy, score));
        }
        return epochs;
    }

    private static EpochDone epoch(
            int stage, int number, double rate, double loss, double accuracy, ValidationScore score) {
        return new EpochDone(stage, number, rate, loss, accuracy, score, true, OptionalDouble.empty());
    }

    /** The score of an epoch without a validation set. */
    private static ValidationScore none(double loss) {
        return new ValidationScore(0, loss);
    }

    private static BufferedImage image(List<EpochDone> epochs) {
        return TrainingCurves.image("run", epochs).draw();
    }

    private static BufferedImage comparison(List<TrainingCurves.Run> runs) {
        return new ChartImage("runs", List.of(TrainingCurves.comparison(runs))).draw();
    }

    /** Number of pixels of exactly that colour. */
    private static long pixels(BufferedImage image, Color colour) {
        return IntStream.of(rgb(image)).filter(rgb -> rgb == colour.getRGB()).count();
    }

    private static int[] rgb(BufferedImage image) {
        return image.getRGB(0, 0, image.getWidth(), image.getHeight(), null, 0, image.getWidth());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100})
    void runsOfAnyLengthAreDrawn(int epochs) {
        Color training = ChartImage.COLOURS.get(0);
        Color validation = ChartImage.COLOURS.get(1);
        BufferedImage both = image(run(epochs, 0, true));
        BufferedImage one = image(run(epochs, 0, false));
        assertThat(both.getWidth()).isEqualTo(2 * ChartImage.WIDTH);
        assertThat(pixels(both, training)).isGreaterThan(200);
        assertThat(pixels(both, validation)).isGreaterThan(200);
        assertThat(pixels(one, training)).isGreaterThan(200);
        assertThat(pixels(one, validation)).isZero();
    }

    /** The same numbers with and without a second stage differ in the mark alone. */
    @Test
    void stagesAreMarkedInEveryPanel() {
        List<EpochDone> two = run(6, 4, true);
        List<EpochDone> one = two.stream()
                .map(e -> epoch(1, e.epoch(), e.learningRate(), e.loss(), e.accuracy(), e.validation()))
                .toList();
        BufferedImage marked = image(two);
        BufferedImage plain = image(one);
        Color mark = new Color(0x555555);
        int third = marked.getHeight() / 3;
        for (int top = 0; top < 3 * third; top += third) {
            BufferedImage part = marked.getSubimage(0, top, marked.getWidth(), third);
            assertThat(pixels(part, mark)).as("from row %d", top).isGreaterThan(150);
        }
        assertThat(pixels(plain, mark)).isLessThan(100);
    }

    @Test
    void nonFiniteValuesAreGaps() {
        List<EpochDone> points = new ArrayList<>(run(5, 0, true));
        points.add(epoch(1, 5, 0, Double.NaN, 0.5, new ValidationScore(Double.NaN, Double.POSITIVE_INFINITY)));
        assertThat(pixels(image(points), ChartImage.COLOURS.getFirst())).isGreaterThan(200);
        List<EpochDone> nothing = List.of(epoch(1, 0, 0, Double.NaN, Double.NaN, none(Double.NaN)));
        assertThat(pixels(image(nothing), ChartImage.COLOURS.getFirst())).isZero();
    }

    @Test
    void everyRunOfManyHasALineOfItsOwn() {
        List<TrainingCurves.Run> runs = new ArrayList<>();
        for (int i = 0; i < ChartImage.COLOURS.size() + 2; i++) {
            int run = i;
            runs.add(new TrainingCurves.Run(
                    "run " + i,
                    run(6, 3, true).stream()
                            .map(e -> epoch(
                                    e.stage(), e.epoch(), e.learningRate(), e.loss(), e.accuracy(), shifted(e, run)))
                            .toList()));
        }
        BufferedImage image = comparison(runs);
        assertThat(ChartImage.COLOURS)
                .allSatisfy(colour -> assertThat(pixels(image, colour)).isGreaterThan(300));
    }

    private static ValidationScore shifted(EpochDone epoch, int by) {
        return new ValidationScore(
                epoch.validation().error() + 0.02 * by, epoch.validation().loss());
    }

    /** Line after line, no two in the same colour and dash pattern, as far as the patterns reach. */
    @Test
    void linesDifferInColourOrDash() {
        List<TrainingCurves.Run> runs = new ArrayList<>();
        IntStream.range(0, 32).forEach(i -> runs.add(new TrainingCurves.Run("run", run(2, 0, true))));
        assertThat(TrainingCurves.comparison(runs).series().stream()
                        .map(series -> List.of(series.colour(), series.dash())))
                .doesNotHaveDuplicates()
                .hasSize(32);
    }

    /** PNG images and HTML pages have the same palette. */
    @Test
    void thePaletteIsThatOfThePages() throws IOException {
        String style = Files.readString(Path.of("src/main/jte/run/style.jte"));
        for (int i = 0; i < ChartImage.COLOURS.size(); i++) {
            int rgb = ChartImage.COLOURS.get(i).getRGB() & 0xffffff;
            assertThat(style).contains(String.format(Locale.ROOT, "--k%d: #%06x;", i, rgb));
        }
    }

    /** One run without a validation set makes the training accuracy the measure of all. */
    @Test
    void runsAreComparedByACommonMetric() {
        List<TrainingCurves.Run> mixed = new ArrayList<>();
        mixed.add(new TrainingCurves.Run("a", run(4, 0, true)));
        mixed.add(new TrainingCurves.Run("b", run(4, 0, false)));
        List<TrainingCurves.Run> without = new ArrayList<>();
        without.add(new TrainingCurves.Run("a", run(4, 0, false)));
        without.add(new TrainingCurves.Run("b", run(4, 0, false)));
        List<TrainingCurves.Run> with = new ArrayList<>();
        with.add(new TrainingCurves.Run("a", run(4, 0, true)));
        with.add(new TrainingCurves.Run("b", run(4, 0, true)));
        int[] found = rgb(comparison(mixed));
        assertThat(found).isEqualTo(rgb(comparison(without)));
        assertThat(found).isNotEqualTo(rgb(comparison(with)));
    }

    /** The contrast that graphics need on the web (WCAG 2.1, 1.4.11). */
    @Test
    void linesHaveEnoughContrast() {
        assertThat(ChartImage.COLOURS)
                .allSatisfy(colour -> assertThat((luminance(ChartImage.BACKGROUND) + 0.05) / (luminance(colour) + 0.05))
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
    void aFileIsReplacedAtomically(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("curves.png");
        Files.writeString(file, "older");
        ChartImage curves = TrainingCurves.image("run", run(3, 2, true));
        curves.write(file);
        assertThat(rgb(ImageIO.read(file.toFile()))).isEqualTo(rgb(curves.draw()));
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void anEpochOfTrainingIsAPoint() {
        List<EpochDone> epochs = List.of(epoch(2, 4, 0.01, 0.7, 0.8, new ValidationScore(0.25, 0.9)));
        assertThat(TrainingCurves.loss(epochs).lines()).containsExactly(line("training", 0.7), line("validation", 0.9));
        assertThat(TrainingCurves.accuracy(epochs).lines())
                .containsExactly(line("training", 80.0), line("validation", 75.0));
        assertThat(TrainingCurves.learningRate(epochs).lines()).containsExactly(line("learning rate", 0.01));
        assertThat(TrainingCurves.loss(run(1, 0, false)).lines())
                .extracting(Line::name)
                .containsExactly("training");
    }

    private static Line line(String name, double value) {
        return Line.of(name, List.of(1.0), List.of(value));
    }

    @Test
    void emptyChartsAreRefused() {
        assertThatThrownBy(() -> TrainingCurves.image("run", List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("epoch"));
        assertThatThrownBy(() -> TrainingCurves.comparison(List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("run"));
        assertThatThrownBy(() -> TrainingCurves.image(" ", run(2, 0, false)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name");
    }
}
