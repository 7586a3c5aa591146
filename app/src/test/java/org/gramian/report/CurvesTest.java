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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.gramian.report.CurvePoint.Score;
import org.gramian.train.loop.TrainEvent.EpochDone;
import org.gramian.train.recipe.ValidationScore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Curves as images: what must be in them, looked up pixel by pixel. */
class CurvesTest {
    private static List<CurvePoint> run(int first, int second, boolean held) {
        List<CurvePoint> points = new ArrayList<>();
        for (int i = 1; i <= first + second; i++) {
            Score training = new Score(0.2 + 2 * Math.exp(-i / 4.0), 0.95 - 0.8 * Math.exp(-i / 3.0));
            Optional<Score> heldBack =
                    held ? Optional.of(new Score(training.loss() + 0.3, training.accuracy() - 0.1)) : Optional.empty();
            boolean early = i <= first;
            points.add(new CurvePoint(early ? 1 : 2, early ? i : i - first, training, heldBack, early ? 1 : 0.001));
        }
        return points;
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
    void aRunOfAnyLengthIsDrawnInTwoColoursOrOne(int epochs) {
        Color training = Panel.COLOURS.get(0);
        Color heldBack = Panel.COLOURS.get(1);
        BufferedImage both = Curves.of("run", run(epochs, 0, true)).draw();
        BufferedImage one = Curves.of("run", run(epochs, 0, false)).draw();
        assertThat(both.getWidth()).isEqualTo(2 * Panel.WIDTH);
        assertThat(pixels(both, training)).isGreaterThan(200);
        assertThat(pixels(both, heldBack)).isGreaterThan(200);
        assertThat(pixels(one, training)).isGreaterThan(200);
        assertThat(pixels(one, heldBack)).isZero();
    }

    /** The same numbers with and without a second stage differ in the mark alone. */
    @Test
    void whereAStageBeginsIsMarkedInEveryPanel() {
        List<CurvePoint> two = run(6, 4, true);
        List<CurvePoint> one = two.stream()
                .map(p -> new CurvePoint(1, p.epoch(), p.training(), p.heldBack(), p.rate()))
                .toList();
        BufferedImage marked = Curves.of("run", two).draw();
        BufferedImage plain = Curves.of("run", one).draw();
        Color mark = new Color(0x555555);
        int third = marked.getHeight() / 3;
        for (int top = 0; top < 3 * third; top += third) {
            BufferedImage part = marked.getSubimage(0, top, marked.getWidth(), third);
            assertThat(pixels(part, mark)).as("from row %d", top).isGreaterThan(150);
        }
        assertThat(pixels(plain, mark)).isLessThan(100);
    }

    @Test
    void whatIsNotFiniteIsLeftOut() {
        List<CurvePoint> points = new ArrayList<>(run(5, 0, true));
        points.add(new CurvePoint(
                1, 6, new Score(Double.NaN, 0.5), Optional.of(new Score(Double.POSITIVE_INFINITY, Double.NaN)), 0));
        assertThat(pixels(Curves.of("run", points).draw(), Panel.COLOURS.getFirst()))
                .isGreaterThan(200);
        List<CurvePoint> nothing =
                List.of(new CurvePoint(1, 1, new Score(Double.NaN, Double.NaN), Optional.empty(), 0));
        assertThat(pixels(Curves.of("run", nothing).draw(), Panel.COLOURS.getFirst()))
                .isZero();
    }

    @Test
    void everyRunOfManyHasALineOfItsOwn() {
        SequencedMap<String, List<CurvePoint>> runs = new LinkedHashMap<>();
        for (int i = 0; i < Panel.COLOURS.size() + 2; i++) {
            int run = i;
            runs.put(
                    "run " + i,
                    run(6, 3, true).stream()
                            .map(p -> new CurvePoint(p.stage(), p.epoch(), p.training(), shifted(p, run), p.rate()))
                            .toList());
        }
        BufferedImage image = Curves.compare("runs", runs).draw();
        assertThat(Panel.COLOURS)
                .allSatisfy(colour -> assertThat(pixels(image, colour)).isGreaterThan(300));
    }

    private static Optional<Score> shifted(CurvePoint point, int by) {
        return point.heldBack().map(score -> new Score(score.loss(), score.accuracy() - 0.02 * by));
    }

    /** One without held-back images makes the measure that of training images for all. */
    @Test
    void runsAreComparedByAMeasureThatAllHave() {
        SequencedMap<String, List<CurvePoint>> mixed = new LinkedHashMap<>();
        mixed.put("a", run(4, 0, true));
        mixed.put("b", run(4, 0, false));
        SequencedMap<String, List<CurvePoint>> without = new LinkedHashMap<>();
        without.put("a", run(4, 0, false));
        without.put("b", run(4, 0, false));
        SequencedMap<String, List<CurvePoint>> with = new LinkedHashMap<>();
        with.put("a", run(4, 0, true));
        with.put("b", run(4, 0, true));
        int[] found = rgb(Curves.compare("runs", mixed).draw());
        assertThat(found).isEqualTo(rgb(Curves.compare("runs", without).draw()));
        assertThat(found).isNotEqualTo(rgb(Curves.compare("runs", with).draw()));
    }

    /** The contrast that graphics need on the web (WCAG 2.1, 1.4.11). */
    @Test
    void linesStandOutFromThePage() {
        assertThat(Panel.COLOURS)
                .allSatisfy(colour -> assertThat((luminance(Panel.BACKGROUND) + 0.05) / (luminance(colour) + 0.05))
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
    void aFileIsReplacedWhole(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("curves.png");
        Files.writeString(file, "older");
        Curves curves = Curves.of("run", run(3, 2, true));
        curves.write(file);
        assertThat(rgb(ImageIO.read(file.toFile()))).isEqualTo(rgb(curves.draw()));
        try (var files = Files.list(folder)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void anEpochOfTrainingIsAPoint() {
        EpochDone done =
                new EpochDone(2, 4, 0.01, 0.7, 0.8, new ValidationScore(0.25, 0.9), true, OptionalDouble.empty());
        assertThat(CurvePoint.of(done, true))
                .isEqualTo(new CurvePoint(2, 5, new Score(0.7, 0.8), Optional.of(new Score(0.9, 0.75)), 0.01));
        assertThat(CurvePoint.of(done, false).heldBack()).isEmpty();
    }

    @Test
    void nothingToDrawIsRefused() {
        assertThatThrownBy(() -> Curves.of("run", List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("epoch"));
        assertThatThrownBy(() -> Curves.compare("runs", new LinkedHashMap<>()))
                .isInstanceOf(IllegalArgumentException.class)
                .has(facts("run"));
        assertThatThrownBy(() -> Curves.of(" ", run(2, 0, false)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("name");
        assertThatThrownBy(() -> new CurvePoint(0, 1, new Score(1, 1), Optional.empty(), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("stage 0");
    }
}
