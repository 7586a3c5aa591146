package org.gramian.report;

import java.awt.Graphics2D;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import javax.imageio.ImageIO;
import org.gramian.basis.AtomicFile;
import org.gramian.report.CurvePoint.Score;
import org.knowm.xchart.style.Styler.LegendPosition;

/**
 * The course of training as an image: loss, accuracy and learning rate over epochs, or the accuracy of several runs.
 *
 * <p>Drawn at twice its size, so that it stays sharp on screens with many pixels and in print. Values that are not finite
 * are left out. Needs fonts, but no screen.
 */
public final class Curves {
    private static final int SCALE = 2;
    private static final String TRAINING = "training set";
    private static final String HELD_BACK = "validation set";

    private final List<Panel> panels;

    private Curves(List<Panel> panels) {
        this.panels = panels;
    }

    /** Of one run, epochs in their order: three panels below each other, with a mark where a stage begins. */
    public static Curves of(String title, List<CurvePoint> points) {
        requirePoints(title, points);
        Panel loss = new Panel(title, "loss", 390)
                .fromZero()
                .withoutEpochTitle()
                .named(LegendPosition.OutsideS)
                .line(TRAINING, CurveLine.of(points, point -> point.training().loss()))
                .line(HELD_BACK, CurveLine.of(points, heldBack(Score::loss)));
        Panel accuracy = new Panel("", "accuracy", 340)
                .inPercent()
                .withoutEpochTitle()
                .line(TRAINING, CurveLine.of(points, percent(Curves::ofTraining)))
                .line(HELD_BACK, CurveLine.of(points, percent(heldBack(Score::accuracy))));
        Panel rate = new Panel("", "learning rate", 190)
                .inSteps()
                .line(
                        "learning rate",
                        CurveLine.ofSteps(points, point -> point.rate() > 0 ? point.rate() : Double.NaN));
        List<Panel> panels = List.of(loss, accuracy, rate);
        panels.forEach(panel -> panel.epochs(points.size()));
        stages(points).forEach((before, stage) -> {
            loss.boundary(before + 0.5);
            accuracy.boundary(before + 0.5, "stage " + stage);
            rate.boundary(before + 0.5);
        });
        return new Curves(panels);
    }

    /**
     * Of several runs by name: their accuracies on held-back images if all have them, else on training images. Where a
     * stage begins is marked if it is the same epoch in all of them.
     */
    public static Curves compare(String title, SequencedMap<String, List<CurvePoint>> runs) {
        if (runs.isEmpty()) {
            throw new IllegalArgumentException("expected at least one run to compare, found none");
        }
        runs.forEach(Curves::requirePoints);
        boolean held = runs.values().stream()
                .flatMap(List::stream)
                .allMatch(point -> point.heldBack().isPresent());
        ToDoubleFunction<CurvePoint> accuracy = percent(held ? heldBack(Score::accuracy) : Curves::ofTraining);
        String measure = "accuracy on " + (held ? "held-back" : "training") + " images";
        Panel panel = new Panel(title, measure, 540).inPercent().named(LegendPosition.InsideSE);
        runs.forEach((name, points) -> panel.line(name, CurveLine.of(points, accuracy)));
        panel.epochs(runs.values().stream().mapToInt(List::size).max().orElseThrow());
        List<Map<Integer, Integer>> boundaries =
                runs.values().stream().map(Curves::stages).distinct().toList();
        if (boundaries.size() == 1) {
            boundaries.getFirst().forEach((before, stage) -> panel.boundary(before + 0.5, "stage " + stage));
        }
        return new Curves(List.of(panel));
    }

    private static void requirePoints(String name, List<CurvePoint> points) {
        if (name.isBlank()) {
            throw new IllegalArgumentException("expected a name for every curve, found an empty one");
        }
        if (points.isEmpty()) {
            throw new IllegalArgumentException("expected at least one epoch, found none for " + name);
        }
    }

    /** The stages after the first by the number of epochs before them. */
    private static Map<Integer, Integer> stages(List<CurvePoint> points) {
        Map<Integer, Integer> stages = new TreeMap<>();
        for (int i = 1; i < points.size(); i++) {
            if (points.get(i).stage() != points.get(i - 1).stage()) {
                stages.put(i, points.get(i).stage());
            }
        }
        return stages;
    }

    private static double ofTraining(CurvePoint point) {
        return point.training().accuracy();
    }

    private static ToDoubleFunction<CurvePoint> heldBack(ToDoubleFunction<Score> value) {
        return point -> point.heldBack().map(value::applyAsDouble).orElse(Double.NaN);
    }

    private static ToDoubleFunction<CurvePoint> percent(ToDoubleFunction<CurvePoint> share) {
        return point -> 100 * share.applyAsDouble(point);
    }

    /**
     * Writes a PNG file, whole or not at all.
     *
     * @throws IOException if it cannot be written, or this Java has no fonts to write words with
     */
    public void write(Path file) throws IOException {
        byte[] image = png();
        AtomicFile.put(file, partial -> Files.write(partial, image));
    }

    private byte[] png() throws IOException {
        requireFonts();
        try (ByteArrayOutputStream out = new ByteArrayOutputStream()) {
            ImageIO.write(draw(), "png", out);
            return out.toByteArray();
        }
    }

    /** Without fonts Java ends in an {@link Error}, with which a run of hours should not end. */
    private static void requireFonts() throws IOException {
        try {
            new TextLayout("a", Panel.FONT, new FontRenderContext(null, true, true)).getBounds();
        } catch (Error
                | RuntimeException missing) { // which of them depends on what is missing: fonts, their list, a library
            throw new IOException(
                    "cannot draw training curves: Java finds no fonts; install fontconfig and a font such as"
                            + " DejaVu Sans",
                    missing);
        }
    }

    /** The image itself. */
    BufferedImage draw() {
        int height = panels.stream().mapToInt(Panel::height).sum();
        BufferedImage image = new BufferedImage(SCALE * Panel.WIDTH, SCALE * height, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.scale(SCALE, SCALE);
        for (Panel panel : panels) {
            panel.paint(graphics);
            graphics.translate(0, panel.height());
        }
        graphics.dispose();
        return image;
    }
}
