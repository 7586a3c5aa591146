package org.gramian.benchmarks;

import java.awt.Color;
import java.awt.GradientPaint;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.gramian.image.dataset.Sample;

/** Temporary folder of synthetic JPEG files of 512×384, the same in every run. */
final class SyntheticImageFolder implements AutoCloseable {
    private static final int WIDTH = 512;
    private static final int HEIGHT = 384;

    private final Path folder;
    private final List<Sample> samples;

    SyntheticImageFolder(int count) {
        try {
            this.folder = Files.createTempDirectory("gramian-images");
            this.samples = List.copyOf(paint(count));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<Sample> samples() {
        return samples;
    }

    private List<Sample> paint(int count) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Path file = folder.resolve(i + ".jpg");
            ImageIO.write(scene(random), "jpg", file.toFile());
            samples.add(new Sample(file.getFileName().toString(), 0, file));
        }
        return samples;
    }

    /** Draws gradients, many shapes and some noise: about 60 kB, as a photograph of this size. */
    private static BufferedImage scene(SplittableRandom random) {
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        Graphics2D graphics = image.createGraphics();
        graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        for (int i = 0; i < 300; i++) {
            int x = random.nextInt(WIDTH);
            int y = random.nextInt(HEIGHT);
            int size = random.nextInt(5, 120);
            graphics.setPaint(new GradientPaint(x, y, colour(random), x + size, y + size, colour(random)));
            graphics.fillOval(x - size / 2, y - size / 2, size, size);
        }
        graphics.dispose();
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                image.setRGB(x, y, image.getRGB(x, y) ^ random.nextInt(8) * 0x010101);
            }
        }
        return image;
    }

    private static Color colour(SplittableRandom random) {
        return new Color(random.nextInt(1 << 24));
    }

    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
