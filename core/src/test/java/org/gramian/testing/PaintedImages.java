package org.gramian.testing;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.gramian.image.dataset.Dataset;
import org.gramian.image.dataset.Sample;

/** Small files of waves under noise: the class decides how long the waves are, so that there is something to learn. */
public final class PaintedImages {
    private static final int WIDTH = 24;
    private static final int HEIGHT = 20;
    private static final int NOISE = 60;

    private PaintedImages() {}

    /** A folder for each class, with so many images in it: {@code c0/0.png}, {@code c0/1.png} and so on. */
    public static Dataset folders(Path root, int... counts) throws IOException {
        List<String> classes =
                IntStream.range(0, counts.length).mapToObj(label -> "c" + label).toList();
        List<Sample> samples = new ArrayList<>();
        for (int label = 0; label < counts.length; label++) {
            Files.createDirectories(root.resolve(classes.get(label)));
            for (int i = 0; i < counts[label]; i++) {
                String name = classes.get(label) + "/" + i + ".png";
                Path file = root.resolve(name);
                paint(file, label, 1000L * label + i);
                samples.add(new Sample(name, label, file));
            }
        }
        return new Dataset(root, classes, samples);
    }

    /** Writes or replaces an image. */
    public static void paint(Path file, int label, long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
        double phase = random.nextDouble(6);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                int grey = (int) (100 + 60 * Math.sin(phase + (0.4 + 0.5 * label) * (x + y)));
                image.setRGB(x, y, 0x01_01_01 * grey + random.nextInt(NOISE) + (random.nextInt(NOISE) << 8));
            }
        }
        ImageIO.write(image, "png", file.toFile());
    }
}
